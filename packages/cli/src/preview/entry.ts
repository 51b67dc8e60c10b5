import type { Entry, SearchMatch, SessionId } from "@bough/session-core";
import { createQueryFinder } from "@bough/session-core/engine";
import { count, type EntryView, type PriceList, viewEntry } from "@bough/session-core/view";
import { dateTime } from "../format/time.js";
import { forceWidth, wrapLine } from "../format/wrap.js";
import { type Glyphs, UNICODE_GLYPHS } from "../terminal/glyphs.js";
import { type Line, type Style, styled } from "../terminal/line.js";
import { findPlaces, type MarkedPlace } from "./marks.js";
import { partsLines } from "./parts.js";
import { fieldLines, TextBudget } from "./text-budget.js";

/** An entry and what is shown with it. */
interface PreviewSubject {
  readonly entry: Entry;
  /** Named in the command that prints a long entry in full. */
  readonly sessionId?: SessionId | undefined;
  readonly label?: string | null | undefined;
  /** Default: the table. */
  readonly prices?: PriceList | undefined;
  /** Tokens of the entry in a context. */
  readonly tokens?: number | null | undefined;
}

/**
 * Draws an entry for a pane: its fields, an empty line, then its text (Markdown rendered, edits as diffs, tool output verbatim).
 * Each line fits `width` columns (at least 2). Draws at most 2,000 lines of the first 120,000 characters, then a note with
 * the number of lines left out and the command that prints all. Never throws for an entry of the store. Call
 * `loadExactWidths` first.
 */
export function entryPreview(subject: PreviewSubject, width: number, glyphs: Glyphs = UNICODE_GLYPHS): readonly Line[] {
  const budget = new TextBudget(width);
  const { entry, sessionId, prices } = subject;
  const view = viewEntry(entry, { prices });
  const body = partsLines(view.parts, budget, glyphs);
  const lines = [
    ...headerLines(subject, view, width, glyphs),
    [],
    ...(body.length === 0 ? wrapLine([styled("dim", "(empty)")], width) : body),
  ];
  const command = `bough show ${sessionId ?? "SESSION"} ${entry.id}`;
  return budget.truncate(lines, command).flatMap((line) => forceWidth(line, width));
}

/** The lines of a preview, and the places of a search's words in them. */
export interface MarkedPreview {
  readonly lines: readonly Line[];
  readonly places: readonly MarkedPlace[];
}

/**
 * The preview of an entry, with the places of the words in its text, but not in its fields. `words` are the arguments of
 * `createQueryFinder`; null: nothing is marked. `before`: lines that are drawn above, without marks.
 */
export function markedPreview(
  subject: PreviewSubject,
  width: number,
  glyphs: Glyphs,
  words: { readonly query: string; readonly matched: SearchMatch } | null,
  before: readonly Line[] = [],
): MarkedPreview {
  const own = entryPreview(subject, width, glyphs);
  const lines = [...before, ...own];
  if (words === null) return { lines, places: [] };
  // The first empty line ends the fields.
  const text = Math.max(
    own.findIndex(({ length }) => length === 0),
    0,
  );
  return { lines, places: findPlaces(lines, before.length + text, createQueryFinder(words.query, words.matched)) };
}

function headerLines({ entry, label, tokens }: PreviewSubject, view: EntryView, width: number, { to }: Glyphs): readonly Line[] {
  return [
    ...wrapLine([styled(styleOf(view), view.name), styled("dim", `  ${entry.id}  ${dateTime(entry.createdAtMs)}`)], width),
    ...(label === null || label === undefined ? [] : fieldLines("label", label, width, "label")),
    ...(tokens === null || tokens === undefined ? [] : fieldLines("tokens in context", count(tokens), width)),
    ...view.fields.flatMap(({ name, value }) => fieldLines(name, String(value).replaceAll("→", to), width)),
  ];
}

function styleOf({ kind }: EntryView): Style {
  if (kind === "compaction" || kind === "branch-summary") return "summary";
  return kind === "user" || kind === "assistant" ? kind : "bold";
}
