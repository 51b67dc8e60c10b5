import { languageOfFile, toolText } from "@bough/formats";
import type { BashExecutionMessage, ToolCallBlock, ToolResultMessage } from "@bough/session-core";
import {
  type Arguments,
  classifyCall,
  classifyTool,
  describeCall,
  findCommand,
  findContent,
  findPatch,
  findPath,
  findTextEdits,
  parseTodos,
  type Todo,
} from "@bough/session-core/view";
import { count } from "../format/numbers.js";
import { toPrintedJson } from "../terminal/printed-json.js";
import { changeHtml, countLines, outputBlock, patchHtml } from "./code.js";
import { attachmentHtml, type ShownParts } from "./content.js";
import { type Html, html, joinHtml, NOTHING } from "./html.js";

/** A change of at most so many lines is open. */
const MAX_OPEN_CHANGE = 40;

/** What of a call's arguments is drawn in a way of its own. */
interface DrawnArguments {
  readonly shown: Html;
  /** Names of the drawn arguments; the others are printed as JSON. */
  readonly used: readonly string[];
  /** Says how large it is. */
  readonly size: string;
  readonly isOpen: boolean;
}

/** A tool call with its result, folded. A small change is open. */
export function callHtml(call: ToolCallBlock, result: ToolResultMessage | undefined, shown: ShownParts): Html {
  const drawn = drawArguments(call);
  const failed = result?.isError === true;
  const { name, detail } = describeCall(call, { directory: shown.directory ?? undefined });
  const rest = restOf(call, detail, drawn?.used ?? [], shown);
  const output =
    result === undefined
      ? html`<p class="note">No result.</p>`
      : outputHtml(result, readLanguage(call, failed), shown, classifyCall(call) === "read");
  return html`<details class="call"${drawn?.isOpen === true ? html` open` : NOTHING}><summary><b>${name}</b> <span class="what">${detail}</span>${sizeHtml(drawn?.size ?? resultSize(result))}${failedHtml(failed)}</summary>${drawn?.shown}${rest}${output}</details>`;
}

function sizeHtml(size: string): Html {
  return size === "" ? NOTHING : html` <span class="size">${size}</span>`;
}

function failedHtml(failed: boolean): Html {
  return failed ? html` <span class="failed">failed</span>` : NOTHING;
}

/** A result whose call is not shown, folded. */
export function resultHtml(result: ToolResultMessage, shown: ShownParts): Html {
  const name = result.toolName ?? "a tool";
  return html`<details class="call"><summary>Result of <b>${name}</b>${sizeHtml(resultSize(result))}${failedHtml(result.isError)}</summary>${outputHtml(result, "", shown)}</details>`;
}

/** A command that the user ran, folded. */
export function bashHtml(message: BashExecutionMessage, shown: ShownParts): Html {
  const notes = bashNotes(message).map((note) => html`<p class="note">${note}</p>`);
  const output = shown.toolOutput === "none" ? NOTHING : textOutput(message.output, "", shown);
  return html`<details class="call"><summary><b>$</b> <span class="what">${message.command.slice(0, 200)}</span></summary><pre class="code"><code data-language="bash">${message.command}</code></pre>${output}${joinHtml(notes)}</details>`;
}

function bashNotes({ cancelled, exitCode, truncated, excludeFromContext }: BashExecutionMessage): readonly string[] {
  const ended = cancelled === true ? ["The command was cancelled."] : exitCode ? [`The command exited with code ${exitCode}.`] : [];
  return [
    ...ended,
    ...(truncated === true ? ["The output was cut when it was recorded."] : []),
    ...(excludeFromContext === true ? ["Not sent to the model."] : []),
  ];
}

function drawArguments(call: ToolCallBlock): DrawnArguments | undefined {
  return drawTodos(call) ?? drawEdits(call.arguments) ?? drawWrite(call) ?? drawCommand(call) ?? drawPatch(call.arguments);
}

function drawTodos(call: ToolCallBlock): DrawnArguments | undefined {
  const todos = classifyCall(call, classifyTool) === "plan" ? parseTodos(call) : null;
  if (todos === null) return undefined;
  const shown = html`<ul class="todos">${joinHtml(todos.map(todoHtml))}</ul>`;
  return { shown, used: Object.keys(call.arguments), size: "", isOpen: true };
}

function todoHtml({ text, state }: Todo): Html {
  const mark = { open: "to do", doing: "doing", done: "done" }[state];
  return html`<li class="${state}"><span class="badge">${mark}</span> ${text}</li>`;
}

function drawEdits(args: Arguments): DrawnArguments | undefined {
  const found = findTextEdits(args);
  if (found === undefined) return undefined;
  const changes = found.edits.map(({ before, after }) => changeHtml(before, after));
  const added = changes.reduce((sum, change) => sum + change.added, 0);
  const removed = changes.reduce((sum, change) => sum + change.removed, 0);
  return {
    shown: joinHtml(changes.map(({ shown }) => shown)),
    used: found.names,
    size: `+${added} −${removed}`,
    isOpen: added + removed <= MAX_OPEN_CHANGE,
  };
}

function drawWrite(call: ToolCallBlock): DrawnArguments | undefined {
  const content = findContent(call);
  if (content === undefined) return undefined;
  const path = findPath(call.arguments)?.text ?? "";
  const shown = html`<pre class="code written"><code data-language="${languageOfFile(path)}">${content.text}</code></pre>`;
  return { shown, used: [content.name], size: `+${countLines(content.text)}`, isOpen: false };
}

function drawCommand(call: ToolCallBlock): DrawnArguments | undefined {
  const command = findCommand(call);
  if (command === undefined) return undefined;
  const shown = html`<pre class="code"><code data-language="bash">${command.script}</code></pre>`;
  return { shown, used: [command.name], size: "", isOpen: false };
}

function drawPatch(args: Arguments): DrawnArguments | undefined {
  const patch = findPatch(args);
  return patch && { shown: patchHtml(patch.text), used: [patch.name], size: "", isOpen: countLines(patch.text) <= MAX_OPEN_CHANGE };
}

/** The arguments that nothing else shows, as JSON. What the summary of the call says is not repeated. */
function restOf(call: ToolCallBlock, detail: string, used: readonly string[], { mask }: ShownParts): Html {
  const rest = Object.entries(call.arguments).filter(
    ([name, value]) => value !== undefined && !used.includes(name) && !isSaid(name, value, detail),
  );
  if (rest.length === 0) return NOTHING;
  return html`<pre class="code"><code data-language="json">${mask(toPrintedJson(Object.fromEntries(rest)) ?? "")}</code></pre>`;
}

function isSaid(name: string, value: unknown, detail: string): boolean {
  if (typeof value !== "string") return false;
  return value === detail || (findPath({ [name]: value }) !== undefined && detail !== "" && value.endsWith(detail.replace(/:[\d-]+$/, "")));
}

/** The language of a file that a call reads. */
function readLanguage(call: ToolCallBlock, failed: boolean): string {
  if (failed || classifyCall(call) !== "read") return "";
  return languageOfFile(findPath(call.arguments)?.text ?? "");
}

function resultSize(result: ToolResultMessage | undefined): string {
  if (result === undefined) return "";
  const lines = countLines(toolText(result, false).text);
  return lines === 1 ? "" : `${count(lines)} lines`;
}

/** The output as the tool wrote it: without the line numbers and the reminders that an agent added for the model. */
function outputHtml(result: ToolResultMessage, language: string, shown: ShownParts, isFile = false): Html {
  if (shown.toolOutput === "none") return NOTHING;
  const others = typeof result.content === "string" ? [] : result.content.filter((block) => block.type !== "text").map(attachmentHtml);
  const { text } = toolText(result, isFile);
  return joinHtml([...(text === "" && others.length > 0 ? [] : [textOutput(text, language, shown)]), ...others]);
}

const SHORT_LINES = 20;
const SHORT_LENGTH = 1500;

function textOutput(text: string, language: string, { toolOutput }: ShownParts): Html {
  if (text.trim() === "") return html`<p class="note">No output.</p>`;
  if (toolOutput === "full") return outputBlock(text, language);
  const start = text.split("\n", SHORT_LINES).join("\n").slice(0, SHORT_LENGTH);
  const missing = text.length - start.length;
  return missing <= 0
    ? outputBlock(text, language)
    : html`${outputBlock(start, language)}<p class="note">… ${count(missing)} more characters</p>`;
}
