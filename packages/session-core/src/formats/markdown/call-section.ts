import type { BashExecutionMessage, ContentBlock, ToolCallBlock, ToolResultMessage } from "../../entry/message.js";
import { describeFile, joinTextBlocks } from "../../entry/text.js";
import { shortenDetail } from "../../text/shorten-path.js";
import { type Arguments, classifyCall, findCommand, findContent, findPath, findTextEdits } from "../../tools/arguments.js";
import { describeCall } from "../../tools/describe-call.js";
import { findPatch } from "../../tools/file-operations.js";
import { escapeHtml, escapeMarkdown, fenceCode, languageOfFile } from "./markdown-text.js";
import type { MarkdownWriter } from "./markdown-writer.js";
import { sanitizeMarkdown } from "./sanitize-markdown.js";

/** The longest title of a call. */
const TITLE_CHARS = 120;

/** A tool call with its result, folded. */
export function callSection(call: ToolCallBlock, result: ToolResultMessage | undefined, writer: MarkdownWriter): string {
  const failed = result?.isError === true;
  const read = failed ? undefined : pathRead(call);
  const answer = result === undefined ? ["*No result.*"] : resultBlocks(result, read === undefined ? "" : languageOfFile(read), writer);
  return folded(`${callTitle(call, writer)}${failed ? " — failed" : ""}`, [...inputSections(call, writer), ...answer]);
}

function callTitle(call: ToolCallBlock, { directory }: MarkdownWriter): string {
  const { name, detail } = describeCall(call, { directory });
  return `${name} ${shortenDetail(detail, TITLE_CHARS)}`.trimEnd();
}

/** A result whose call is not shown, folded. */
export function strayResultSection(result: ToolResultMessage, writer: MarkdownWriter): string {
  return folded(`Result of ${result.toolName ?? "a tool"}${result.isError ? " — failed" : ""}`, resultBlocks(result, "", writer));
}

/** A command that the person ran, folded. */
export function bashSection(message: BashExecutionMessage, writer: MarkdownWriter): string {
  const output = writer.toolOutput === "none" ? hiddenOutput(writer) : outputBlocks(message.output, "", writer);
  return folded(`$ ${message.command.slice(0, 200)}`, [fenceCode(message.command, "sh"), ...output, ...bashNotes(message)]);
}

function bashNotes(message: BashExecutionMessage): readonly string[] {
  const notes: string[] = [];
  if (message.cancelled === true) notes.push("*The command was cancelled.*");
  else if (typeof message.exitCode === "number" && message.exitCode !== 0)
    notes.push(`*The command exited with code ${message.exitCode}.*`);
  if (message.truncated === true) notes.push("*The output was cut when it was recorded.*");
  if (message.excludeFromContext === true) notes.push("*Not sent to the model.*");
  return notes;
}

function resultBlocks(result: ToolResultMessage, language: string, writer: MarkdownWriter): readonly string[] {
  if (writer.toolOutput === "none") return hiddenOutput(writer);
  const others =
    typeof result.content === "string"
      ? []
      : result.content.flatMap((block) => (block.type === "text" ? [] : placeholderLines(block, writer)));
  const text = joinTextBlocks(result.content);
  return [...(text === "" && others.length > 0 ? [] : outputBlocks(text, language, writer)), ...others];
}

function hiddenOutput(writer: MarkdownWriter): readonly string[] {
  writer.omitted.count("output");
  return [];
}

function outputBlocks(text: string, language: string, writer: MarkdownWriter): readonly string[] {
  const { text: shown, missing } = writer.clipOutput(text);
  if (shown.trim() === "") return ["*No output.*"];
  return missing === null ? [fenceCode(shown, language)] : [fenceCode(shown, language), `*… ${missing}*`];
}

/** A folded section. The blank lines end the HTML block, so that the content is parsed as Markdown. */
export function folded(summary: string, blocks: readonly string[]): string {
  return [`<details><summary>${escapeHtml(summary)}</summary>`, ...blocks, "</details>"].join("\n\n");
}

/** The blocks of a content as sections, in their order. */
export function contentSections(content: string | readonly ContentBlock[], writer: MarkdownWriter): readonly string[] {
  if (typeof content === "string") return markdownSections(content);
  return content.flatMap((block) => (block.type === "text" ? markdownSections(block.text) : placeholderLines(block, writer)));
}

function markdownSections(text: string): readonly string[] {
  const written = sanitizeMarkdown(text);
  return written === "" ? [] : [written];
}

/** A line that replaces an image, a file or a foreign block. */
export function placeholderLines(block: Exclude<ContentBlock, { type: "text" }>, writer: MarkdownWriter): readonly string[] {
  if (block.type === "image") {
    writer.omitted.count("image");
    return [`*[image: ${escapeMarkdown(block.mimeType)}, ${describeSize(block.data)}]*`];
  }
  if (block.type === "file") {
    writer.omitted.count("file");
    return [`*[file: ${escapeMarkdown(describeFile(block))}${block.data === undefined ? "" : `, ${describeSize(block.data)}`}]*`];
  }
  writer.omitted.count("block");
  return [`*[${escapeMarkdown(block.originalType)}]*`];
}

// Four characters of base64 are three bytes.
function describeSize(base64: string): string {
  const bytes = Math.floor((base64.replace(/=+$/, "").length * 3) / 4);
  return bytes < 1000 ? `${bytes} bytes` : `${Math.round(bytes / 1000).toLocaleString("en-US")} kB`;
}

/** Arguments of a call as text in a language, and the names of the arguments that the text shows. */
interface ShownArguments {
  readonly text: string;
  readonly language: string;
  readonly keys: readonly string[];
}

/**
 * The arguments of a call: a change as a diff, a command as shell code, others as JSON. An argument that is in the
 * call's title already (the path of a read) is not repeated.
 */
function inputSections(call: ToolCallBlock, writer: MarkdownWriter): readonly string[] {
  const args: Arguments = call.arguments;
  const best = editShown(args) ?? commandShown(call) ?? contentShown(call);
  const title = callTitle(call, writer);
  const isSaid = (key: string, value: unknown): boolean => best?.keys.includes(key) === true || title === `${call.name} ${String(value)}`;
  const rest = Object.entries(args).filter(([key, value]) => value !== undefined && !isSaid(key, value));
  const shown = best === undefined ? [] : block(best.text, best.language, writer);
  return rest.length === 0 ? shown : [...shown, ...block(JSON.stringify(Object.fromEntries(rest), null, 2), "json", writer)];
}

function editShown(args: Arguments): ShownArguments | undefined {
  const edit = editDiff(args);
  return edit === undefined ? undefined : { text: edit.diff, language: "diff", keys: edit.shown };
}

function commandShown(call: ToolCallBlock): ShownArguments | undefined {
  const command = findCommand(call);
  return command && { text: command.script, language: "sh", keys: [command.name] };
}

function contentShown(call: ToolCallBlock): ShownArguments | undefined {
  const content = findContent(call);
  return content && { text: additions(content.text), language: "diff", keys: [content.name] };
}

/** The file that a call reads, if its tool reads files. */
function pathRead(call: ToolCallBlock): string | undefined {
  return classifyCall(call) === "read" ? findPath(call.arguments)?.text : undefined;
}

function block(text: string, language: string, writer: MarkdownWriter): readonly string[] {
  const { text: shown, missing } = writer.clipInput(text);
  return missing === null ? [fenceCode(shown, language)] : [fenceCode(shown, language), `*… ${missing}*`];
}

/** Unchanged lines shown on each side of a change. */
const CONTEXT_LINES = 3;

/** The arguments of a call as a diff, and those that the diff does not show. */
interface EditDiff {
  readonly diff: string;
  readonly shown: readonly string[];
}

/**
 * What a call changes in a file: pairs of old and new text, one or several, or a patch. Undefined when its arguments
 * have none of these shapes. The name of the tool is not used.
 *
 * @example
 * editDiff({ path: "a.ts", oldText: "a\nb", newText: "a\nc" })?.diff; // " a\n-b\n+c"
 */
export function editDiff(args: Arguments): EditDiff | undefined {
  const edits = findTextEdits(args);
  if (edits !== undefined) {
    return { diff: edits.edits.map(({ before, after }) => changeOf(before, after)).join("\n@@\n"), shown: edits.names };
  }
  const patch = findPatch(args);
  return patch && { diff: patch.text.trimEnd(), shown: [patch.name] };
}

/** The text of a new file as a diff. */
function additions(text: string): string {
  return marked("+", linesOf(text)).join("\n");
}

function changeOf(old: string, now: string): string {
  const before = linesOf(old);
  const after = linesOf(now);
  const head = common(before, after, (lines, at) => lines[at]);
  const tail = common(before.slice(head), after.slice(head), (lines, at) => lines[lines.length - 1 - at]);
  return [
    ...marked(" ", before.slice(Math.max(0, head - CONTEXT_LINES), head)),
    ...marked("-", before.slice(head, before.length - tail)),
    ...marked("+", after.slice(head, after.length - tail)),
    ...marked(" ", after.slice(after.length - tail, after.length - tail + CONTEXT_LINES)),
  ].join("\n");
}

function common(a: readonly string[], b: readonly string[], pick: (lines: readonly string[], at: number) => string | undefined): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && pick(a, length) === pick(b, length)) length++;
  return length;
}

function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r\n?|\n/);
}

function marked(mark: string, lines: readonly string[]): readonly string[] {
  return lines.map((line) => `${mark}${line}`);
}
