import type { Entry } from "../../entry/entry.js";
import { previewOf } from "../../entry/preview.js";
import { asTyped } from "../../entry/typed-text.js";
import type { EntryId } from "../../ids/ids.js";
import { oneLine } from "../../text/one-line.js";
import { escapeMarkdown } from "./markdown-text.js";

/** A line of the contents list: what the person typed, or a label. */
export interface Turn {
  /** Its heading, without the marks. null: a label, which has none. */
  readonly heading: string | null;
  readonly text: string;
}

/** Documents with fewer turns have no contents list. */
const MIN_TURNS = 8;
const TEXT_CHARS = 80;

/** The turns and labels of a branch. Holds one line for each. */
export async function collectTurns(
  entries: AsyncIterable<Entry>,
  labels: ReadonlyMap<EntryId, string>,
  directory: string | null,
): Promise<readonly Turn[]> {
  const turns: Turn[] = [];
  for await (const entry of entries) {
    const label = labels.get(entry.id);
    if (label !== undefined) turns.push({ heading: null, text: label });
    if (entry.type !== "message") continue;
    const { role } = asTyped(entry.message);
    if (role === "user" || role === "bashExecution")
      turns.push({ heading: userTitle(entry.createdAtMs), text: oneLine(previewOf(entry, directory), TEXT_CHARS) });
  }
  return turns;
}

/** The contents list of a long document, with links to the headings of its turns. */
export function contentsSections(turns: readonly Turn[]): readonly string[] {
  if (turns.filter(({ heading }) => heading !== null).length < MIN_TURNS) return [];
  const anchors = new Map<string, number>();
  const lines = turns.map(({ heading, text }) => {
    if (heading === null) return `- **${escapeMarkdown(text)}**`;
    const anchor = anchorOf(heading);
    const before = anchors.get(anchor) ?? 0;
    anchors.set(anchor, before + 1);
    const time = heading.split(" · ")[1]?.replace(/ UTC$/, "");
    return `- [${linkText(text)}](#${anchor}${before === 0 ? "" : `-${before}`})${time === undefined ? "" : ` · ${time}`}`;
  });
  return ["**Contents** (times in UTC)", lines.join("\n")];
}

/** Text of a link. Some renderers end a link at an escaped bracket, so brackets become entities. */
function linkText(text: string): string {
  return escapeMarkdown(text).replaceAll("\\[", "&#91;").replaceAll("\\]", "&#93;") || "…";
}

/** The anchor that GitHub and others give to a heading: lower case, without punctuation, a hyphen for each space. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
    .replaceAll(" ", "-");
}

/** The heading of a message of the user. Times before 1971 are those of a program that recorded none. */
export function userTitle(createdAtMs: number): string {
  const time = createdAtMs > 31_536_000_000 ? minuteOf(createdAtMs) : "";
  return time === "" ? "User" : `User · ${time}`;
}

/** Date and time in UTC, to the minute; empty for an invalid time. */
function minuteOf(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? "" : `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
