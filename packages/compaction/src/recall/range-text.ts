import type { EntryId, OutlineRow, Session } from "@bough/session-core";
import { entryText } from "./entry-text.js";
import { type Outline, readOutline } from "./outline.js";

/** A range of a path to read. */
export interface RangeRequest {
  readonly from: EntryId;
  readonly to: EntryId;
  /** Entries more on both sides. */
  readonly around: number;
  /** Read up to this place of the whole text, in UTF-16 code units; what lies beyond may be missing. */
  readonly upTo: number;
}

/**
 * Entries of one path word for word, from the first on. A range that cannot be read is said in one line. Cost: the outline
 * of the session, and the bodies of the entries up to `upTo`.
 */
export async function rangeText(session: Session, request: RangeRequest): Promise<string> {
  const { from, to, upTo } = request;
  const outline = await readOutline(session);
  const path = outline.pathTo(to);
  const start = path.findIndex(({ id }) => id === from);
  if (start === -1) return notAbove(outline, from, to);
  const rows = around(session, outline, path, start, request.around);
  let text = "";
  for (const { id } of rows) {
    if (text.length > upTo) break;
    text += `${text === "" ? "" : "\n\n"}${entryText(await session.entry(id))}`;
  }
  return text;
}

function notAbove(outline: Outline, from: EntryId, to: EntryId): string {
  const turned = outline.pathTo(from).some(({ id }) => id === to);
  return turned
    ? `${from} comes after ${to}: name the earlier entry first.`
    : `${from} and ${to} are on different branches, so nothing lies between them. Read them one by one.`;
}

/** The range from `start` to the end of `path`, with its surroundings: what is below is looked for on the session's own path. */
function around(session: Session, outline: Outline, path: readonly OutlineRow[], start: number, count: number): readonly OutlineRow[] {
  const current = count === 0 ? [] : outline.pathTo(session.leafId);
  const goesOn = current[path.length - 1]?.id === path.at(-1)?.id;
  const after = goesOn ? current.slice(path.length, path.length + count) : [];
  return [...path.slice(Math.max(0, start - count)), ...after];
}
