import type { EntryId } from "@bough/session-core";
import { count, type EntryView, type NotePart, type SummaryPart, type ViewKind, type ViewPart } from "@bough/session-core/view";
import { dateTime } from "../format/time.js";
import { callHtml, codeHtml, commandHtml, jsonHtml, resultHtml, textOutput } from "./call.js";
import { preHtml } from "./code.js";
import { attachmentHtml, entryLink, type ShownParts, textHtml } from "./content.js";
import { type Html, html, joinHtml, NOTHING } from "./html.js";
import type { HeadingLevel } from "./markdown.js";

/** A step of a conversation as HTML. */
export interface StepHtml {
  /** The class of its article. */
  readonly kind: "user" | "assistant" | "command" | "custom" | "system" | "summary" | "setting";
  /** Its heading; empty: the step continues the one above. */
  readonly heading: string;
  readonly body: Html;
}

/** The classes of articles; null: there is nothing to read. */
const CLASSES: Readonly<Record<ViewKind, StepHtml["kind"] | null>> = {
  user: "user",
  assistant: "assistant",
  result: "assistant",
  command: "command",
  system: "system",
  host: "custom",
  compaction: "summary",
  "branch-summary": "summary",
  model: "setting",
  "thinking-level": "setting",
  edit: null,
  custom: null,
  foreign: null,
};

/** The HTML of a step; undefined: it has nothing to read. */
export function stepHtml(view: EntryView, shown: ShownParts): StepHtml | undefined {
  const kind = CLASSES[view.kind];
  if (kind === null || view.isHidden) return undefined;
  const body = bodyHtml(view, kind, shown);
  if (kind === "assistant" && body.text === "") return undefined;
  return { kind, heading: kind === "setting" ? "" : view.heading, body };
}

function bodyHtml(view: EntryView, kind: StepHtml["kind"], shown: ShownParts): Html {
  if (kind === "system") return systemHtml(view);
  if (kind === "command")
    return commandHtml(view, joinHtml(view.parts.flatMap((part) => (part.type === "note" ? [noteHtml(part)] : []))), shown);
  return joinHtml(view.parts.map((part) => partHtml(part, view, shown)));
}

function systemHtml({ parts }: EntryView): Html {
  const text = parts.flatMap((part) => (part.type === "markdown" ? [part.text] : [])).join("\n");
  return html`<details><summary>${count(text.length)} characters</summary>${preHtml("output", text)}</details>`;
}

function partHtml(part: ViewPart, view: EntryView, shown: ShownParts): Html {
  switch (part.type) {
    case "markdown":
      return textHtml(part.text, levelIn(view));
    case "thinking":
      if (!shown.thinking || part.isHidden) return NOTHING;
      return html`<details class="thinking"><summary>Thinking</summary>${textHtml(part.text, levelIn(view))}</details>`;
    case "text":
      return textOutput(part.text, "", shown);
    case "code":
      return codeHtml(part);
    case "json":
      return jsonHtml(part.value, shown);
    case "image":
    case "file":
    case "foreign":
      return attachmentHtml(part);
    case "note":
      return noteHtml(part);
    case "fact":
      return html`<p>${view.heading}: ${part.value}</p>`;
    case "summary":
      return summaryHtml(part);
    case "call":
      return callHtml(part, shown);
    case "result":
      return resultHtml(part, shown);
  }
}

/** The level of headings in a text: below the heading of its article. */
function levelIn({ kind }: EntryView): HeadingLevel {
  return kind === "assistant" ? 4 : 3;
}

function noteHtml({ about, text, detail }: NotePart): Html {
  if (about !== "failed") return html`<p class="note">${text}</p>`;
  return html`<p class="note failed">${text}${detail === undefined ? "" : `: ${detail}`}</p>`;
}

function summaryHtml(part: SummaryPart): Html {
  return html`<p class="note">${summaryNote(part)}</p>${textHtml(part.text, 3)}${filesHtml("Modified files", part.modifiedFiles)}${filesHtml("Read files", part.readFiles)}`;
}

function summaryNote({ of, tokensBefore, tokensAfter, fromId }: SummaryPart): Html {
  if (of === "branch") {
    const from = fromId === null ? NOTHING : html` <a href="${entryLink(fromId)}">Go to its end</a>`;
    return html`What happened on a branch that was left.${from}`;
  }
  const size =
    tokensBefore === undefined ? "" : ` ${count(tokensBefore)}${tokensAfter === undefined ? "" : ` → ${count(tokensAfter)}`} tokens.`;
  return html`The model went on from this summary of what is above it.${size}`;
}

/** A list of files, folded; nothing if it is empty. */
export function filesHtml(title: string, files: readonly string[]): Html {
  if (files.length === 0) return NOTHING;
  const items = files.map((file) => html`<li><code>${file}</code></li>`);
  return html`<details class="files"><summary>${title}: ${files.length}</summary><ul>${joinHtml(items)}</ul></details>`;
}

/** The place of a step in its session. Steps are numbered by the arrival of their first entries. */
export interface StepPlace {
  readonly step: number;
  /** The step above; -1: it is a first one; undefined: a server knows it. */
  readonly up?: number;
  /** The entries that it shows; links lead to each of them. */
  readonly ids: readonly EntryId[];
  readonly createdAtMs: number;
  readonly label: string | undefined;
}

/** The level of a heading; undefined: the step continues the one above and has no heading. */
type Level = 2 | 3 | undefined;

/** The levels of headings: a message of the user and a summary have the second, replies to them the third, without repetitions. */
export class Headings {
  #last = "";
  #turns: number;

  /** `turns`: those that stand above the first step. */
  constructor(turns = 0) {
    this.#turns = turns;
  }

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
  return html`<article id="e=${id}" class="${kind}${level === undefined ? " on" : ""}" data-step="${step}"${up === undefined ? NOTHING : html` data-up="${up}"`}${named} tabindex="-1">${header}${anchors}<div class="body">${body}</div></article>\n`;
}

function timeHtml(ms: number): Html {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? NOTHING : html`<time datetime="${date.toISOString()}">${dateTime(ms)}</time>`;
}
