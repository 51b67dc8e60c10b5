import type { BashExecutionMessage, ContentBlock, ImageBlock, ToolCallBlock, ToolResultMessage } from "@bough/session-core";
import {
  type Arguments,
  classifyCall,
  classifyTool,
  describeCall,
  describeFile,
  findCommand,
  findContent,
  findPath,
  oneLine,
  parseTodos,
  shortenDetail,
  type Todo,
} from "@bough/session-core/view";
import { additions, editDiff } from "./edit-diff.js";
import { encodeAddress, readImage } from "./images.js";
import { escapeHtml, escapeMarkdown, fenceCode, languageOfFile, toCodeSpan } from "./markdown-text.js";
import type { MarkdownWriter } from "./markdown-writer.js";
import { sanitizeMarkdown } from "./sanitize-markdown.js";
import { toolText } from "./tool-text.js";

/** The longest title of a call. */
const TITLE_CHARS = 120;
/** The longest title of a command that the person ran. */
const COMMAND_CHARS = 200;

/**
 * A tool call with its result, folded; a line if there is nothing to unfold. A list of tasks is shown as such, and only if it has
 * changed. `isOpen`: the reply was stopped, so that a missing result says nothing.
 */
export function callSections(
  call: ToolCallBlock,
  result: ToolResultMessage | undefined,
  isOpen: boolean,
  writer: MarkdownWriter,
): readonly string[] {
  const failed = result?.isError === true;
  const tasks = failed ? undefined : tasksOf(call);
  if (tasks !== undefined) return writer.isNewTaskList(tasks) ? [taskListSection(tasks)] : [];
  const answer = result === undefined ? (isOpen ? [] : ["*No result.*"]) : resultBlocks(result, failed ? undefined : call, writer);
  const blocks = [...inputSections(call, writer), ...answer];
  const title = describeCall(call, writer);
  return [
    titled(title.name, shortenDetail(title.detail, TITLE_CHARS), failed ? " — failed" : "", blocks),
    ...subagentSections(call, writer),
  ];
}

/** What the session did that a call started, or the command that shows it. */
function subagentSections(call: ToolCallBlock, writer: MarkdownWriter): readonly string[] {
  const subagent = writer.subagents.get(call.id);
  if (subagent === undefined) return [];
  const { id, title, sections } = subagent;
  if (sections === undefined) return [`*Subagent: ${escapeMarkdown(title)}* — ${toCodeSpan(`bough export ${id}`)}`];
  return [folded(`Subagent: ${title}`, [quoted(sections.join("\n\n"))])];
}

/** Blocks as a quote. */
export function quoted(text: string): string {
  return text.replace(/^(?=.)/gm, "> ").replace(/^$/gm, ">");
}

/** Blocks below a title: folded, or a line of a list if there are none. */
function titled(name: string, detail: string, end: string, blocks: readonly string[]): string {
  if (blocks.length === 1 && blocks[0] === NO_OUTPUT) return titled(name, detail, `${end} — no output`, []);
  if (blocks.length > 0) return folded(`${name} ${detail}`.trimEnd() + end, blocks);
  return `- ${[escapeMarkdown(name), toCodeSpan(detail)].filter((part) => part !== "").join(" ")}${end}`;
}

/** A result whose call is not shown, folded. */
export function strayResultSection(result: ToolResultMessage, writer: MarkdownWriter): string {
  return titled(`Result of ${result.toolName ?? "a tool"}`, "", result.isError ? " — failed" : "", resultBlocks(result, undefined, writer));
}

/** A command that the person ran, folded. */
export function bashSection(message: BashExecutionMessage, writer: MarkdownWriter): string {
  const notes = bashNotes(message);
  if (writer.toolOutput === "none") {
    writer.omitted.count("output");
    return [`- ${toCodeSpan(`$ ${shortenDetail(oneLine(message.command, COMMAND_CHARS), COMMAND_CHARS)}`)}`, ...notes].join(" ");
  }
  const output = outputBlocks(message.output, "", writer);
  return folded(`$ ${message.command.slice(0, COMMAND_CHARS)}`, [fenceCode(message.command, "sh"), ...output, ...notes]);
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

/** `call`: whose result it is, if that tells the language of the output. */
function resultBlocks(result: ToolResultMessage, call: ToolCallBlock | undefined, writer: MarkdownWriter): readonly string[] {
  const others =
    typeof result.content === "string"
      ? []
      : result.content.flatMap((block) => (block.type === "text" ? [] : placeholderLines(block, writer)));
  const file = call && pathRead(call);
  const { text, reminders } = toolText(result, file !== undefined);
  writer.omitted.count("reminder", reminders);
  if (writer.toolOutput === "none") {
    if (text.trim() !== "") writer.omitted.count("output");
    return [];
  }
  const language = file === undefined ? "" : languageOfFile(file);
  return [...(text.trim() === "" && others.length > 0 ? [] : outputBlocks(text, language, writer)), ...others];
}

const NO_OUTPUT = "*No output.*";

function outputBlocks(text: string, language: string, writer: MarkdownWriter): readonly string[] {
  const { text: shown, missing } = writer.clipOutput(text);
  if (shown.trim() === "") return [NO_OUTPUT];
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

/** An image, or a line that replaces an image, a file or a foreign block. */
export function placeholderLines(block: Exclude<ContentBlock, { type: "text" }>, writer: MarkdownWriter): readonly string[] {
  if (block.type === "image") return [imageLine(block, writer)];
  if (block.type === "file") {
    writer.omitted.count("file");
    return [`*[file: ${escapeMarkdown(describeFile(block))}${block.data === undefined ? "" : `, ${describeSize(block.data)}`}]*`];
  }
  writer.omitted.count("block");
  return [`*[${escapeMarkdown(block.originalType)}]*`];
}

function imageLine({ data }: ImageBlock, writer: MarkdownWriter): string {
  if (writer.asset !== undefined) {
    const image = readImage(data);
    const address = image && writer.asset(image);
    if (address !== undefined) return `![image](${encodeAddress(address)})`;
  }
  writer.omitted.count("image");
  return `*[image, ${describeSize(data)}, left out${writer.asset === undefined ? "; --assets DIR writes it" : ": it is of no known type"}]*`;
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
  if (writer.toolOutput === "none") {
    if (best !== undefined && best.language === "diff") writer.omitted.count("input");
    return [];
  }
  const { detail } = describeCall(call, writer);
  const path = findPath(args)?.name;
  const rest = Object.entries(args).filter(
    ([key, value]) =>
      value !== undefined && value !== "" && best?.keys.includes(key) !== true && key !== path && !isTold(call, key, detail, value),
  );
  const isTitle = best?.language === "sh" && best.text.trim() === detail;
  const shown = best === undefined || isTitle ? [] : block(best.text, best.language, writer);
  return [...shown, ...restSections(rest, writer)];
}

/** The lines that a read asks for; its title says them. */
const RANGE = ["offset", "limit", "view_range"];

/** Whether the title of a call contains an argument. */
function isTold(call: ToolCallBlock, key: string, detail: string, value: unknown): boolean {
  if (pathRead(call) !== undefined && RANGE.includes(key)) return true;
  return typeof value === "string" && value.length <= TITLE_CHARS && ` ${detail} `.includes(` ${value} `);
}

/** Other arguments: short values in one line, texts of several lines as they are, everything else as JSON. */
function restSections(args: readonly (readonly [name: string, value: unknown])[], writer: MarkdownWriter): readonly string[] {
  const short = args.filter(([, value]) => isShort(value));
  const texts = args.filter(([, value]) => typeof value === "string" && !isShort(value));
  const others = args.filter(([, value]) => typeof value !== "string" && !isShort(value));
  const line = short.map(([name, value]) => `${escapeMarkdown(name)}: ${escapeMarkdown(String(value))}`).join(" · ");
  return [
    ...(line === "" ? [] : [`*${line}*`]),
    ...texts.flatMap(([name, value]) => [`*${escapeMarkdown(name)}:*`, ...block(String(value), "", writer)]),
    ...(others.length === 0 ? [] : block(JSON.stringify(Object.fromEntries(others), null, 2), "json", writer)),
  ];
}

function isShort(value: unknown): boolean {
  return (
    typeof value === "number" || typeof value === "boolean" || (typeof value === "string" && value.length <= 160 && !value.includes("\n"))
  );
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

/** The list of a planning tool; undefined: the call is of another kind or has another form. */
function tasksOf(call: ToolCallBlock): readonly Todo[] | undefined {
  return classifyCall(call, classifyTool) === "plan" ? (parseTodos(call) ?? undefined) : undefined;
}

/** The tasks as a task list of GitHub, the one that is being done in bold. */
function taskListSection(tasks: readonly Todo[]): string {
  const lines = tasks.map(({ text, state }) => {
    const words = escapeMarkdown(text);
    return `- [${state === "done" ? "x" : " "}] ${state === "doing" ? `**${words}**` : words}`;
  });
  return lines.join("\n");
}
