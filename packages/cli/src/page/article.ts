import type { EntryId } from "@bough/session-core";
import { dateTime } from "../format/time.js";
import { entryLink } from "./content.js";
import { type Html, html, NOTHING } from "./html.js";
import type { StepHtml } from "./step.js";

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
