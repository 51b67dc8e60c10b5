import type { AssistantBlock, Entry, EntryId, Message } from "@bough/session-core";
import { asTyped, type ReplyStep, readableSummary, type Step } from "@bough/session-core/view";
import { summaryFiles } from "../format/entry-lines.js";
import { count } from "../format/numbers.js";
import { dateTime } from "../format/time.js";
import { bashHtml, callHtml, resultHtml } from "./call.js";
import { outputBlock } from "./code.js";
import { attachmentHtml, contentHtml, entryLink, type ShownParts, textHtml } from "./content.js";
import { type Html, html, joinHtml, NOTHING } from "./html.js";

/** A step of a conversation as HTML. */
export interface StepHtml {
  /** The class of its article. */
  readonly kind: "user" | "assistant" | "command" | "custom" | "system" | "summary" | "setting";
  /** Its heading; empty: it goes on with what is above. */
  readonly heading: string;
  readonly body: Html;
}

/** The HTML of a step; undefined: it has nothing to read. */
export function stepHtml(step: Step, shown: ShownParts): StepHtml | undefined {
  return step.kind === "reply" ? replyHtml(step, shown) : entryHtml(step.entry, shown);
}

function entryHtml(entry: Entry, shown: ShownParts): StepHtml | undefined {
  switch (entry.type) {
    case "message":
      return messageHtml(asTyped(entry.message), shown);
    case "custom_message":
      return customHtml(entry);
    case "compaction":
      return { kind: "summary", heading: "Compaction", body: compactionHtml(entry) };
    case "branch_summary":
      return { kind: "summary", heading: "Branch summary", body: branchSummaryHtml(entry) };
    case "model_change":
      return setting("Model", entry.provider === undefined ? entry.modelId : `${entry.provider}/${entry.modelId}`);
    case "thinking_level_change":
      return setting("Thinking level", entry.thinkingLevel ?? "default");
    case "context_edit":
    case "custom":
    case "foreign":
      return undefined;
  }
}

function setting(name: string, value: string): StepHtml {
  return { kind: "setting", heading: "", body: html`<p>${name}: ${value}</p>` };
}

function messageHtml(message: Message, shown: ShownParts): StepHtml | undefined {
  switch (message.role) {
    case "user":
      return { kind: "user", heading: "User", body: contentHtml(message.content, 3) };
    case "assistant":
      return undefined; // a reply is a separate step
    case "toolResult":
      return { kind: "assistant", heading: "", body: resultHtml(message, shown) };
    case "bashExecution":
      return { kind: "command", heading: "User", body: bashHtml(message, shown) };
    case "custom":
      return customHtml(message);
    case "system":
      return { kind: "system", heading: "Instructions", body: systemHtml(message.content) };
  }
}

function systemHtml(content: string | readonly { readonly text: string }[]): Html {
  const text = typeof content === "string" ? content : content.map((block) => block.text).join("\n");
  return html`<details><summary>${count(text.length)} characters</summary>${outputBlock(text)}</details>`;
}

type Custom = Pick<Extract<Message, { role: "custom" }>, "customType" | "content" | "display">;

function customHtml({ customType, content, display }: Custom): StepHtml | undefined {
  return display === false ? undefined : { kind: "custom", heading: `Message: ${customType}`, body: contentHtml(content, 3) };
}

function replyHtml(step: ReplyStep, shown: ShownParts): StepHtml | undefined {
  const used = new Map<string, number>();
  const blocks = step.message.content.map((block) => replyBlock(block, step, used, shown));
  const body = joinHtml([...blocks, ending(step)]);
  return body.text === "" ? undefined : { kind: "assistant", heading: "Assistant", body };
}

function replyBlock(block: AssistantBlock, step: ReplyStep, used: Map<string, number>, shown: ShownParts): Html {
  switch (block.type) {
    case "text":
      return textHtml(block.text, 4);
    case "thinking":
      if (!shown.thinking || block.redacted === true || block.thinking.trim() === "") return NOTHING;
      return html`<details class="thinking"><summary>Thinking</summary>${textHtml(block.thinking, 4)}</details>`;
    case "toolCall": {
      const nth = used.get(block.id) ?? 0;
      used.set(block.id, nth + 1);
      return callHtml(block, step.results.get(block.id)?.[nth], shown);
    }
    case "image":
    case "file":
    case "foreign":
      return attachmentHtml(block);
  }
}

// Some programs record no stop reason; their replies count as complete.
function ending({ message }: ReplyStep): Html {
  const { stopReason, errorMessage = "" } = message;
  if (stopReason === "aborted") return html`<p class="note">The reply was stopped before it was finished.</p>`;
  if (stopReason === "error" || errorMessage.trim() !== "")
    return html`<p class="note failed">The reply failed${errorMessage === "" ? "" : `: ${errorMessage}`}</p>`;
  return stopReason === "length" ? html`<p class="note">The reply was cut off at the model’s limit.</p>` : NOTHING;
}

function compactionHtml(entry: Extract<Entry, { type: "compaction" }>): Html {
  const { tokensBefore, tokensAfter } = entry;
  const size =
    tokensBefore === undefined ? "" : ` ${count(tokensBefore)}${tokensAfter === undefined ? "" : ` → ${count(tokensAfter)}`} tokens.`;
  return html`<p class="note">The model went on from this summary of what is above it.${size}</p>${summaryHtml(entry)}`;
}

function branchSummaryHtml(entry: Extract<Entry, { type: "branch_summary" }>): Html {
  const from = entry.fromId === null ? NOTHING : html` <a href="${entryLink(entry.fromId)}">Go to its end</a>`;
  return html`<p class="note">What happened on a branch that was left.${from}</p>${summaryHtml(entry)}`;
}

function summaryHtml(payload: { readonly summary: string; readonly details?: unknown }): Html {
  const { readFiles, modifiedFiles } = summaryFiles(payload.details);
  return html`${textHtml(readableSummary(payload.summary), 3)}${filesHtml("Modified files", modifiedFiles)}${filesHtml("Read files", readFiles)}`;
}

function filesHtml(title: string, files: readonly string[]): Html {
  if (files.length === 0) return NOTHING;
  const items = files.map((file) => html`<li><code>${file}</code></li>`);
  return html`<details class="files"><summary>${title}: ${files.length}</summary><ul>${joinHtml(items)}</ul></details>`;
}

/** Where a step stands in its session. Steps are numbered by the arrival of their first entries. */
export interface StepPlace {
  readonly step: number;
  /** The step above; -1: it is a first one. */
  readonly up: number;
  /** The entries that it shows; links lead to each of them. */
  readonly ids: readonly EntryId[];
  readonly createdAtMs: number;
  readonly label: string | undefined;
}

/** The level of a heading; undefined: the step goes on with what is above it and has none. */
type Level = 2 | 3 | undefined;

/** The levels of headings: a message of the user and a summary have the second, replies to them the third, without repetitions. */
export class Headings {
  #last = "";
  #turns = 0;

  /** The level of the heading of the next step. */
  next({ kind, heading }: StepHtml): Level {
    if (kind === "user") this.#turns += 1;
    const repeats = heading === "" || (kind === "assistant" && heading === this.#last);
    if (heading !== "") this.#last = heading;
    if (repeats) return undefined;
    return kind === "assistant" && this.#turns > 0 ? 3 : 2;
  }
}

/** A step as an article, which the page's script finds by its data. */
export function articleHtml({ kind, heading, body }: StepHtml, place: StepPlace, level: Level): Html {
  const { step, up, ids, createdAtMs, label } = place;
  const [id = "", ...others] = ids;
  const title = level === undefined ? NOTHING : html`<h${level} id="h${step}">${heading}</h${level}>`;
  const marked = label === undefined ? NOTHING : html`<span class="label">${label}</span>`;
  const header = html`<header>${title}${marked}${timeHtml(createdAtMs)}<a class="anchor" href="${entryLink(id)}" aria-label="Link to this entry">#</a></header>`;
  const named = level === undefined ? NOTHING : html` aria-labelledby="h${step}"`;
  const anchors = others.map((other) => html`<span id="e=${other}"></span>`);
  return html`<article id="e=${id}" class="${kind}${level === undefined ? " on" : ""}" data-step="${step}" data-up="${up}"${named} tabindex="-1">${header}${anchors}<div class="body">${body}</div></article>\n`;
}

function timeHtml(ms: number): Html {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? NOTHING : html`<time datetime="${date.toISOString()}">${dateTime(ms)}</time>`;
}
