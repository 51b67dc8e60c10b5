import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import {
  type Arguments,
  type AttachmentPart,
  bytes,
  type CallInput,
  type CallPart,
  type ImagePart,
  type ResultPart,
  shortenDetail,
  type TextEdit,
  type Todo,
} from "@bough/session-core/view";
import { escapeHtml, escapeMarkdown, fenceCode, toCodeSpan } from "./markdown-text.js";
import type { MarkdownImage, MarkdownWriter } from "./markdown-writer.js";

/** The longest title of a call. */
const TITLE_CHARS = 120;

/**
 * A tool call with its result, folded; a line if there is nothing to unfold. A list of tasks is shown unfolded, and only if it has
 * changed.
 */
export function callSections(call: CallPart, writer: MarkdownWriter): readonly string[] {
  const failed = call.result?.isError === true;
  const todos = call.input.find((input) => input.type === "todos")?.todos;
  if (todos !== undefined && !failed) return taskListSections(todos, call.rest, writer);
  const answer = call.result === null ? (call.isMissing ? ["*No result.*"] : []) : resultBlocks(call.result, writer);
  const detail = shortenDetail(call.detail, TITLE_CHARS);
  const isCut = detail !== call.detail;
  const blocks = [...inputSections(call, isCut ? { ...call.titled, ...call.rest } : call.rest, writer), ...answer];
  return [titled(call.name, detail, failed ? " — failed" : "", blocks), ...subagentSections(call.call.id, writer)];
}

/** The session that a call started, folded, or the command that shows it. */
function subagentSections(callId: string, writer: MarkdownWriter): readonly string[] {
  const subagent = writer.subagents.get(callId);
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
export function resultSection(result: ResultPart, writer: MarkdownWriter): string {
  return titled(`Result of ${result.name}`, "", result.isError ? " — failed" : "", resultBlocks(result, writer));
}

function resultBlocks({ parts, output, reminders, language }: ResultPart, writer: MarkdownWriter): readonly string[] {
  const others = parts.flatMap((part) => (part.type === "text" ? [] : attachmentLines(part, writer)));
  writer.omitted.count("reminder", reminders);
  if (writer.toolOutput === "none") {
    if (output.trim() !== "") writer.omitted.count("output");
    return [];
  }
  return [...(output.trim() === "" && others.length > 0 ? [] : outputBlocks(output, language, writer)), ...others];
}

const NO_OUTPUT = "*No output.*";

/** The output of a program as a block, cut at the limit of the document. */
export function outputBlocks(text: string, language: string, writer: MarkdownWriter): readonly string[] {
  const { text: shown, missing } = writer.clipOutput(text);
  if (shown.trim() === "") return [NO_OUTPUT];
  return missing === null ? [fenceCode(shown, language)] : [fenceCode(shown, language), `*… ${missing}*`];
}

/** A folded section. The blank lines end the HTML block, so that the content is parsed as Markdown. */
export function folded(summary: string, blocks: readonly string[]): string {
  return [`<details><summary>${escapeHtml(summary)}</summary>`, ...blocks, "</details>"].join("\n\n");
}

/** An image, or a line that replaces an image, a file or a block of an unknown type. */
export function attachmentLines(part: AttachmentPart, writer: MarkdownWriter): readonly string[] {
  switch (part.type) {
    case "image":
      return [imageLine(part, writer)];
    case "file":
      writer.omitted.count("file");
      return [`*[file: ${escapeMarkdown(part.description)}${part.bytes === null ? "" : `, ${bytes(part.bytes)}`}]*`];
    case "foreign":
      writer.omitted.count("block");
      return [`*[${escapeMarkdown(part.name)}]*`];
  }
}

function imageLine({ data, bytes: size }: ImagePart, writer: MarkdownWriter): string {
  if (writer.asset !== undefined) {
    const image = readImage(data);
    const address = image && writer.asset(image);
    if (address !== undefined) return `![image](${encodeAddress(address)})`;
  }
  writer.omitted.count("image");
  return `*[image, ${bytes(size)}, left out${writer.asset === undefined ? "; --assets DIR writes it" : ": it is of no known type"}]*`;
}

/** The arguments of a call: a change as a diff, a command as shell code, a list of tasks, then the others. */
function inputSections(call: CallPart, others: Arguments, writer: MarkdownWriter): readonly string[] {
  return [...call.input.flatMap((input) => inputBlocks(input, writer)), ...argumentSections(others, writer)];
}

function inputBlocks(input: CallInput, writer: MarkdownWriter): readonly string[] {
  switch (input.type) {
    case "todos":
      return writer.toolOutput === "none" ? [] : taskList(input.todos);
    case "diff":
      return changeBlocks(editsDiff(input.edits), writer);
    case "patch":
      return changeBlocks(input.text.trimEnd(), writer);
    case "code":
      if (input.purpose === "written") return changeBlocks(additions(input.text), writer);
      return input.inTitle || writer.toolOutput === "none" ? [] : clippedBlock(input.text, input.language, writer);
  }
}

function changeBlocks(diff: string, writer: MarkdownWriter): readonly string[] {
  if (writer.toolOutput !== "none") return clippedBlock(diff, "diff", writer);
  writer.omitted.count("input");
  return [];
}

/** Other arguments: short values in one line, texts of several lines as they are, everything else as JSON. */
function argumentSections(args: Arguments, writer: MarkdownWriter): readonly string[] {
  if (writer.toolOutput === "none") return [];
  const given = Object.entries(args);
  const short = given.filter(([, value]) => isShort(value));
  const texts = given.filter(([, value]) => typeof value === "string" && !isShort(value));
  const others = given.filter(([, value]) => typeof value !== "string" && !isShort(value));
  const line = short.map(([name, value]) => `${escapeMarkdown(name)}: ${escapeMarkdown(String(value))}`).join(" · ");
  return [
    ...(line === "" ? [] : [`*${line}*`]),
    ...texts.flatMap(([name, value]) => [`*${escapeMarkdown(name)}:*`, ...clippedBlock(String(value), "", writer)]),
    ...(others.length === 0 ? [] : clippedBlock(JSON.stringify(Object.fromEntries(others), null, 2), "json", writer)),
  ];
}

function isShort(value: unknown): boolean {
  return (
    typeof value === "number" || typeof value === "boolean" || (typeof value === "string" && value.length <= 160 && !value.includes("\n"))
  );
}

/** An argument of a call, or instructions, as a block, cut at the limit of the document. */
export function clippedBlock(text: string, language: string, writer: MarkdownWriter): readonly string[] {
  const { text: shown, missing } = writer.clipInput(text);
  return missing === null ? [fenceCode(shown, language)] : [fenceCode(shown, language), `*… ${missing}*`];
}

function taskListSections(todos: readonly Todo[], others: Arguments, writer: MarkdownWriter): readonly string[] {
  return writer.isNewTaskList(todos) ? [...taskList(todos), ...argumentSections(others, writer)] : [];
}

/** The tasks as a task list of GitHub, the one that is being done in bold. */
function taskList(todos: readonly Todo[]): readonly string[] {
  const lines = todos.map(({ text, state }) => {
    const words = escapeMarkdown(text);
    return `- [${state === "done" ? "x" : " "}] ${state === "doing" ? `**${words}**` : words}`;
  });
  return lines.length === 0 ? [] : [lines.join("\n")];
}

// The first bytes of the types that browsers show. SVG is not among them, because it can contain programs.
const TYPES: readonly (readonly [extension: string, isType: (bytes: Buffer) => boolean])[] = [
  ["png", (bytes) => bytes.subarray(0, 8).equals(Buffer.from("\x89PNG\r\n\x1a\n", "latin1"))],
  ["jpg", (bytes) => bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))],
  ["gif", (bytes) => /^GIF8[79]a/.test(bytes.toString("latin1", 0, 6))],
  ["webp", (bytes) => bytes.toString("latin1", 0, 4) === "RIFF" && bytes.toString("latin1", 8, 12) === "WEBP"],
  ["avif", (bytes) => /^ftypavi[fs]/.test(bytes.toString("latin1", 4, 12))],
  ["bmp", (bytes) => bytes.toString("latin1", 0, 2) === "BM"],
];

/** An image by its base64; undefined: its first bytes are not those of a known type, whatever the session says of it. */
function readImage(base64: string): MarkdownImage | undefined {
  const bytes = Buffer.from(base64, "base64");
  const extension = TYPES.find(([, isType]) => isType(bytes))?.[0];
  if (extension === undefined) return undefined;
  return { bytes, name: `${createHash("sha256").update(bytes).digest("hex").slice(0, 16)}.${extension}` };
}

/** An address for the link of an image: nothing in it ends the link. */
function encodeAddress(path: string): string {
  return path
    .split(/[\\/]/)
    .map((part) => encodeURIComponent(part).replace(/[()]/g, (found) => (found === "(" ? "%28" : "%29")))
    .join("/");
}

/** Unchanged lines shown on each side of a change. */
const CONTEXT_LINES = 3;

/**
 * Returns the changes of a file as a diff without file names and line numbers, which a call does not have.
 *
 * @example
 * editsDiff([{ before: "a\nb", after: "a\nc" }]); // " a\n-b\n+c"
 */
export function editsDiff(edits: readonly Pick<TextEdit, "before" | "after">[]): string {
  return edits.map(({ before, after }) => changeOf(before, after)).join("\n@@\n");
}

/** The text of a new file as a diff. */
export function additions(text: string): string {
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
