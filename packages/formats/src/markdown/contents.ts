import type { Entry, EntryId } from "@bough/session-core";
import { asTyped, oneLine, previewOf } from "@bough/session-core/view";
import { escapeMarkdown } from "./markdown-text.js";

/** A line of the contents list: what the person typed, or a label. */
export interface Turn {
  /** The anchor of its heading in the document. null: a label, which has no heading. */
  readonly anchor: string | null;
  /** Of a turn, without the zone; undefined: it has none. */
  readonly time: string | undefined;
  readonly text: string;
}

/** Documents with fewer turns have no contents list. */
const MIN_TURNS = 8;
/** A longer list shows every second turn, or every fourth, and so on. */
const MAX_TURNS = 1000;
const TEXT_CHARS = 80;

/**
 * The turns of a branch, evenly chosen if there are more than 1,000, and its labels. Holds one line for each, and each heading once.
 *
 * @param mask removes the secrets of an entry; only entries whose text is in the list are masked.
 */
export async function collectTurns(
  entries: AsyncIterable<Entry>,
  labels: ReadonlyMap<EntryId, string>,
  directory: string | null,
  mask: (entry: Entry) => Entry,
): Promise<readonly Turn[]> {
  const [anchors, turns] = [new Map<string, number>(), new EvenTurns()];
  for await (const entry of entries) {
    const label = labels.get(entry.id);
    if (label !== undefined) turns.addLabel(label);
    if (entry.type !== "message") continue;
    const { role } = asTyped(entry.message);
    if (role !== "user" && role !== "bashExecution") continue;
    const heading = userTitle(entry.createdAtMs);
    const before = anchors.get(heading) ?? 0;
    anchors.set(heading, before + 1);
    turns.add(() => ({
      anchor: `${anchorOf(heading)}${before === 0 ? "" : `-${before}`}`,
      time: heading.split(" · ")[1]?.replace(/ UTC$/, ""),
      text: oneLine(previewOf(mask(entry), directory), TEXT_CHARS),
    }));
  }
  return turns.list;
}

/** Keeps every `step`-th turn; the step doubles when there are too many. */
class EvenTurns {
  list: Turn[] = [];
  #step = 1;
  #seen = 0;
  #kept = 0;

  addLabel(text: string): void {
    this.list.push({ anchor: null, time: undefined, text });
  }

  add(create: () => Turn): void {
    this.#seen += 1;
    if ((this.#seen - 1) % this.#step !== 0) return;
    this.list.push(create());
    this.#kept += 1;
    if (this.#kept > MAX_TURNS) this.#thin();
  }

  #thin(): void {
    let at = 0;
    this.list = this.list.filter(({ anchor }) => anchor === null || at++ % 2 === 0);
    this.#kept = Math.ceil(this.#kept / 2);
    this.#step *= 2;
  }
}

/** The contents list of a long document, with links to the headings of its turns. */
export function contentsSections(turns: readonly Turn[]): readonly string[] {
  if (turns.filter(({ anchor }) => anchor !== null).length < MIN_TURNS) return [];
  const lines = turns.map(({ anchor, time, text }) =>
    anchor === null ? `- **${escapeMarkdown(text)}**` : `- [${linkText(text)}](#${anchor})${time === undefined ? "" : ` · ${time}`}`,
  );
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
