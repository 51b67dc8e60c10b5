import type { ContentBlock, ToolCallBlock, ToolResultMessage } from "../entry/message.js";
import { describeFile } from "../entry/text.js";
import { type Arguments, classifyCall, findCommand, findContent, findPath, findTextEdits } from "../tools/arguments.js";
import { describeCall, TELLING_ARGUMENTS } from "../tools/describe-call.js";
import { findPatch } from "../tools/file-operations.js";
import { classifyTool } from "../tools/known-tools.js";
import { placeOf, relativePath } from "../tools/relative-path.js";
import { findTodos } from "../tools/todos.js";
import { toolText } from "./tool-text.js";
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
  return Math.floor((base64.replace(/=+$/, "").length * 3) / 4);
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
