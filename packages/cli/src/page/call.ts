import { type CallInput, type CallPart, type CodePart, count, type EntryView, type ResultPart, type Todo } from "@bough/session-core/view";
import { toPrintedJson } from "../terminal/printer.js";
import { changeHtml, countLines, patchHtml, preHtml } from "./code.js";
import { attachmentHtml, type ShownParts } from "./content.js";
import { type Html, html, joinHtml, NOTHING } from "./html.js";

/** Maximum lines of a change that is unfolded when the page opens. */
const MAX_OPEN_CHANGE = 40;

/** The input of a call as HTML. */
interface InputHtml {
  readonly shown: Html;
  /** Says how large it is. */
  readonly size: string;
  readonly isOpen: boolean;
}

/** A tool call with its result, folded. A small change is open. */
export function callHtml(call: CallPart, shown: ShownParts): Html {
  const [input] = call.input.map(inputHtml);
  const { result } = call;
  const rest = Object.keys(call.rest).length === 0 ? NOTHING : jsonHtml(call.rest, shown);
  const missing = call.isMissing ? html`<p class="note">No result.</p>` : NOTHING;
  const output = result === null ? missing : outputHtml(result, shown);
  return shown.folds.callHtml({
    summary: html`<b>${call.name}</b> <span class="what">${call.detail}</span>${sizeHtml(input?.size ?? resultSize(result))}${failedHtml(result)}`,
    content: html`${input?.shown}${rest}${output}`,
    isOpen: input?.isOpen === true,
  });
}

function sizeHtml(size: string): Html {
  return size === "" ? NOTHING : html` <span class="size">${size}</span>`;
}

function failedHtml(result: ResultPart | null): Html {
  return result?.isError === true ? html` <span class="failed">failed</span>` : NOTHING;
}

/** A result whose call is not shown, folded. */
export function resultHtml(result: ResultPart, shown: ShownParts): Html {
  return shown.folds.callHtml({
    summary: html`Result of <b>${result.name}</b>${sizeHtml(resultSize(result))}${failedHtml(result)}`,
    content: outputHtml(result, shown),
    isOpen: false,
  });
}

/** A command that the user ran, folded. `notes`: how it ended. */
export function commandHtml({ parts }: EntryView, notes: Html, shown: ShownParts): Html {
  const command = parts.find((part): part is CodePart => part.type === "code")?.text ?? "";
  const text = parts.find((part) => part.type === "text")?.text ?? "";
  const output = shown.toolOutput === "none" ? NOTHING : textOutput(text, "", shown);
  return shown.folds.callHtml({
    summary: html`<b>$</b> <span class="what">${command.slice(0, 200)}</span>`,
    content: html`${shellHtml(command)}${output}${notes}`,
    isOpen: false,
  });
}

function inputHtml(input: CallInput): InputHtml {
  switch (input.type) {
    case "todos":
      return { shown: html`<ul class="todos">${joinHtml(input.todos.map(todoHtml))}</ul>`, size: "", isOpen: true };
    case "diff":
      return editsHtml(input.edits);
    case "patch":
      return { shown: patchHtml(input.text), size: "", isOpen: countLines(input.text) <= MAX_OPEN_CHANGE };
    case "code":
      return {
        shown: codeHtml(input),
        size: input.purpose === "written" ? `+${input.text === "" ? 0 : countLines(input.text)}` : "",
        isOpen: false,
      };
  }
}

function todoHtml({ text, state }: Todo): Html {
  const mark = { open: "to do", doing: "doing", done: "done" }[state];
  return html`<li class="${state}"><span class="badge">${mark}</span> ${text}</li>`;
}

function editsHtml(edits: readonly { readonly before: string; readonly after: string }[]): InputHtml {
  const changes = edits.map(({ before, after }) => changeHtml(before, after));
  const added = changes.reduce((sum, change) => sum + change.added, 0);
  const removed = changes.reduce((sum, change) => sum + change.removed, 0);
  return { shown: joinHtml(changes.map(({ shown }) => shown)), size: `+${added} −${removed}`, isOpen: added + removed <= MAX_OPEN_CHANGE };
}

/** A command, or the text that a call writes to a file. */
export function codeHtml({ purpose, text, language }: CodePart): Html {
  return purpose === "written" ? preHtml("code written", text, language) : shellHtml(text);
}

function shellHtml(command: string): Html {
  return preHtml("code", command, "bash");
}

/** A value as JSON, without secrets that are recognized by what stands before them, as in `"password": "…"`. */
export function jsonHtml(value: unknown, { masks }: ShownParts): Html {
  return preHtml("code", masks.maskValue(toPrintedJson(value) ?? ""), "json");
}

function resultSize(result: ResultPart | null): string {
  if (result === null) return "";
  const lines = countLines(result.output);
  return lines === 1 ? "" : `${count(lines)} lines`;
}

/** The output as the tool wrote it: without the line numbers and the reminders that an agent added for the model. */
function outputHtml({ parts, output, language }: ResultPart, shown: ShownParts): Html {
  if (shown.toolOutput === "none") return NOTHING;
  const others = parts.flatMap((part) => (part.type === "text" ? [] : [attachmentHtml(part)]));
  return joinHtml([...(output === "" && others.length > 0 ? [] : [textOutput(output, language, shown)]), ...others]);
}

const SHORT_LINES = 20;
const SHORT_LENGTH = 1500;

/** The output of a program, cut to its first lines unless all of it is shown. */
export function textOutput(text: string, language: string, { toolOutput }: ShownParts): Html {
  if (text.trim() === "") return html`<p class="note">No output.</p>`;
  if (toolOutput === "full") return preHtml("output", text, language);
  const start = text.split("\n", SHORT_LINES).join("\n").slice(0, SHORT_LENGTH);
  const missing = text.length - start.length;
  return missing <= 0
    ? preHtml("output", text, language)
    : html`${preHtml("output", start, language)}<p class="note">… ${count(missing)} more characters</p>`;
}
