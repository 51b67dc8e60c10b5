import type { ContentBlock, ToolCallBlock, ToolResultMessage } from "../entry/message.js";
import { describeFile, joinTextBlocks } from "../entry/text.js";
import { type Arguments, classifyCall, findCommand, findContent, findPath, findTextEdits, findTodos } from "../tools/arguments.js";
import { describeCall, placeOf, relativePath, TELLING_ARGUMENTS } from "../tools/describe-call.js";
import { findPatch } from "../tools/file-operations.js";
import { classifyTool } from "../tools/known-tools.js";
import type { AttachmentPart, CallInput, CallPart, CodePart, ResultPart, TextPart, ViewOptions } from "./view.js";

/**
 * The view of a call and its result.
 *
 * @param result undefined: none was recorded; null: none can be known.
 */
export function viewCall(call: ToolCallBlock, result: ToolResultMessage | undefined | null, options: ViewOptions = {}): CallPart {
  const { name, detail } = describeCall(call, options);
  const drawn = drawArguments(call, detail);
  const others = Object.entries(call.arguments).filter(
    ([key, value]) => value !== undefined && value !== "" && drawn?.names.includes(key) !== true,
  );
  const isTitled = makeTitleTest(detail, options);
  return {
    type: "call",
    call,
    name,
    detail,
    input: drawn === undefined ? [] : [drawn.input],
    titled: Object.fromEntries(others.filter(([key, value]) => isTitled(key, value))),
    rest: { ...Object.fromEntries(others.filter(([key, value]) => !isTitled(key, value))), ...drawn?.rest },
    result: result ? viewResult(result, call) : null,
    isMissing: result === undefined,
  };
}

/** Returns the view of a result. `call`: the call of the result; without it, the output is not that of a read file. */
export function viewResult(result: ToolResultMessage, call?: ToolCallBlock): ResultPart {
  const { content, isError, toolName: name = "a tool" } = result;
  const isFile = call !== undefined && !isError && classifyCall(call) === "read";
  const file = isFile ? findPath(call.arguments)?.text : undefined;
  const { text: output, reminders } = toolText(result, file !== undefined);
  const language = file === undefined ? "" : languageOfFile(file);
  return { type: "result", name, isError, parts: viewBlocks(content, viewText), output, reminders, language };
}

/** The parts of a content, its texts by `viewText`; empty texts are left out. */
export function viewBlocks<T>(content: string | readonly ContentBlock[], viewText: (text: string) => T): readonly (T | AttachmentPart)[] {
  if (typeof content === "string") return content === "" ? [] : [viewText(content)];
  return content
    .filter((block) => block.type !== "text" || block.text !== "")
    .map((block) => (block.type === "text" ? viewText(block.text) : viewAttachment(block)));
}

/** Output of a program. */
export function viewText(text: string): TextPart {
  return { type: "text", text };
}

/** The view of a block that is neither text nor a part of a reply. */
export function viewAttachment(block: Exclude<ContentBlock, { type: "text" }>): AttachmentPart {
  switch (block.type) {
    case "image":
      return { type: "image", mimeType: block.mimeType, data: block.data, bytes: sizeOf(block.data) };
    case "file":
      return { type: "file", description: describeFile(block), bytes: block.data === undefined ? null : sizeOf(block.data) };
    case "foreign":
      return { type: "foreign", name: block.originalType, value: block.raw };
  }
}

/** Bytes of a base64 text: four characters are three bytes. */
function sizeOf(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : Number(base64.endsWith("="));
  return Math.floor(((base64.length - padding) * 3) / 4);
}

/** The part of the arguments that has a form of its own. */
interface DrawnArguments {
  readonly input: CallInput;
  /** The arguments that `input` shows. */
  readonly names: readonly string[];
  /** The rest of these arguments, by their names. */
  readonly rest?: Arguments;
}

function drawArguments(call: ToolCallBlock, detail: string): DrawnArguments | undefined {
  return drawTodos(call) ?? drawEdits(call) ?? drawContent(call) ?? drawPatch(call) ?? drawCommand(call, detail);
}

function drawTodos(call: ToolCallBlock): DrawnArguments | undefined {
  const found = classifyCall(call, classifyTool) === "plan" ? findTodos(call) : undefined;
  return found && { input: { type: "todos", todos: found.todos }, names: [found.name] };
}

function drawEdits(call: ToolCallBlock): DrawnArguments | undefined {
  const found = findTextEdits(call.arguments);
  if (found === undefined) return undefined;
  const { edits, names } = found;
  const [list, second] = names;
  const isList = list !== undefined && second === undefined;
  const hasRest = isList && edits.some(({ rest }) => Object.keys(rest).length > 0);
  return { input: { type: "diff", edits, isList }, names, ...(hasRest ? { rest: { [list]: edits.map(({ rest }) => rest) } } : {}) };
}

function drawContent(call: ToolCallBlock): DrawnArguments | undefined {
  const content = findContent(call);
  if (content === undefined) return undefined;
  const language = languageOfFile(findPath(call.arguments)?.text ?? "");
  return { input: { type: "code", purpose: "written", text: content.text, language, inTitle: false }, names: [content.name] };
}

function drawPatch(call: ToolCallBlock): DrawnArguments | undefined {
  const patch = findPatch(call.arguments);
  return patch && { input: { type: "patch", text: patch.text }, names: [patch.name] };
}

function drawCommand(call: ToolCallBlock, detail: string): DrawnArguments | undefined {
  const command = findCommand(call);
  return command && { input: viewCommand(command.script, command.script.trim() === detail), names: [command.name] };
}

/** The view of a shell command. */
export function viewCommand(text: string, inTitle: boolean): CodePart {
  return { type: "code", purpose: "command", text, language: "sh", inTitle };
}

/** The arguments for the range of lines of a read, which its title shows as `:10-29`. */
const RANGE = ["offset", "limit", "view_range"];
const SHOWN_RANGE = /:\d+-\d*$/;

/**
 * Tests whether the title of a call contains an argument: a range of lines, a text that is all of it, or a text from which titles are
 * made, as whole words; a path as the title writes it.
 */
function makeTitleTest(detail: string, { directory }: ViewOptions): (name: string, value: unknown) => boolean {
  const place = placeOf(directory);
  const words = ` ${detail} `;
  const path = detail.replace(SHOWN_RANGE, "");
  return (name, value) => {
    if (RANGE.includes(name)) return typeof value !== "string" && SHOWN_RANGE.test(detail);
    if (typeof value !== "string") return false;
    const isWord = (text: string) => TELLING_ARGUMENTS.has(name) && words.includes(` ${text} `);
    return [value, relativePath(value, place)].some((text) => text === path || isWord(text));
  };
}

/**
 * The language of a file for a renderer: the extension, or the whole name if it has none.
 *
 * @example
 * languageOfFile("src/a.ts"); // "ts"
 */
function languageOfFile(path: string): string {
  const name = path.split(/[\\/]/).at(-1) ?? "";
  return name.slice(name.lastIndexOf(".") + 1).toLowerCase();
}

/** The output of a tool, without what the agent added to it for the model. */
interface ToolText {
  readonly text: string;
  /** The number of reminders that were removed. */
  readonly reminders: number;
}

/**
 * The text of a result as the tool wrote it: without the numbers of lines (`   12→`) and the reminders that Claude Code adds.
 * `isFile`: it is the content of a file, whose numbers may be followed by a tab.
 */
function toolText(result: ToolResultMessage, isFile: boolean): ToolText {
  const { text, reminders } = withoutReminders(joinTextBlocks(result.content));
  return { text: withoutLineNumbers(text, isFile), reminders };
}

const REMINDER_START = "<system-reminder>";
const REMINDER_END = "</system-reminder>";

/** A text without the blocks that start on a line of their own. Linear: one search for each tag. */
function withoutReminders(text: string): ToolText {
  const kept: string[] = [];
  let done = 0;
  let reminders = 0;
  for (let start = text.indexOf(REMINDER_START); start >= 0; start = text.indexOf(REMINDER_START, start + 1)) {
    if (start < done || !/(?:^|\n)[^\S\n]*$/.test(text.slice(Math.max(done, start - 20), start))) continue;
    const end = text.indexOf(REMINDER_END, start);
    if (end < 0) break;
    kept.push(text.slice(done, start).trimEnd());
    done = end + REMINDER_END.length;
    reminders += 1;
  }
  return reminders === 0 ? { text, reminders } : { text: (kept.join("") + text.slice(done).trimEnd()).replace(/^\n+/, ""), reminders };
}

const ARROW = /^ *\d+→/;
const ARROW_OR_TAB = /^ *\d+(?:→|\t)/;

/** A text whose lines are all numbered without the numbers; any other text unchanged. */
function withoutLineNumbers(text: string, isFile: boolean): string {
  const number = isFile ? ARROW_OR_TAB : ARROW;
  if (!number.test(text)) return text;
  const lines = text.split("\n");
  const last = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  if (!lines.slice(0, last).every((line) => number.test(line))) return text;
  return lines.map((line) => line.replace(number, "")).join("\n");
}
