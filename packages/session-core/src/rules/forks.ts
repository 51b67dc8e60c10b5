import type { EntryPayload } from "../entry/entry.js";
import { encodeBytes, jsonText } from "../entry/json.js";
import type { EntryId } from "../ids/ids.js";
import type { Fork, NewSession, SessionRecord } from "../port/records.js";
import { shortenAtWord } from "../text/one-line.js";
import type { WritableEntry } from "./derived-columns.js";

/** The session that a fork makes. `entryId`: where it was forked; `name`: its title if none is given. */
export function newFork(source: SessionRecord, { into, tree }: Fork, entryId: EntryId | null, name: string | null): NewSession {
  return {
    ...into,
    title: (into.title === undefined ? name : into.title) ?? undefined,
    titleSource: into.title === undefined ? "auto" : "user",
    cwd: into.cwd ?? source.cwd ?? undefined,
    metadata: into.metadata ?? (tree ? source.metadata : undefined),
    parent: { sessionId: source.id, entryId, toolCallId: null },
  };
}

/** A payload and its JSON as the copy of a path has them: a branch summary loses a `fromId` whose entry is not copied. */
export function withoutForeignBranch(
  payload: EntryPayload,
  payloadJson: string,
  isCopied: (id: EntryId) => boolean,
): Pick<WritableEntry, "payload" | "payloadJson"> {
  if (payload.type !== "branch_summary" || payload.fromId === null || isCopied(payload.fromId)) return { payload, payloadJson };
  // The branch is not part of the copy. Its id is kept in `originalFromId`.
  const { type: _type, ...rest } = { ...payload, fromId: null, originalFromId: payload.fromId };
  return { payload: { ...payload, fromId: null }, payloadJson: jsonText(encodeBytes(rest, "entry"), "The entry") };
}

/** The longest part of a session's title in the title of a fork, in UTF-16 code units. */
const MAX_BASE = 60;

const FORK = /, fork (\d{1,9})$/;

/** The title of a fork or of its origin without ", fork N", cut. */
function forkBase(title: string): string {
  return shortenAtWord(title.replace(FORK, ""), MAX_BASE);
}

/** The title of the next fork of a session; null: it has neither a title nor a text. `forks`: those that there are. */
export function forkTitle(
  origin: { readonly title: string | null; readonly firstText: string | null },
  forks: readonly { readonly title: string | null }[],
): string | null {
  const title = origin.title ?? origin.firstText ?? "";
  if (title === "") return null;
  const base = forkBase(title);
  const numbers = forks.map((fork) => forkNumber(fork.title, base));
  return `${base}, fork ${Math.max(0, ...numbers) + 1}`;
}

/** The number in the title of a fork with this base; 0: it has none. */
function forkNumber(title: string | null, base: string): number {
  const found = title?.startsWith(base) === true ? FORK.exec(title) : null;
  return found !== null && found.index === base.length ? Number(found[1]) : 0;
}

/**
 * The sessions that a name matches, without forks that match only by the title of their origin: with its number from `nameFork`, or the
 * title itself, as older versions gave it. So a fork never makes the name of its origin ambiguous.
 */
export function withoutNamedForks(found: readonly SessionRecord[]): readonly SessionRecord[] {
  return found.filter((record) => !found.some((other) => other !== record && isNamedAfter(record, other)));
}

function isNamedAfter(fork: SessionRecord, origin: SessionRecord): boolean {
  if (fork.parent === null || fork.parent.toolCallId !== null) return false;
  const title = titleOf(fork);
  const isNumbered = FORK.test(title);
  if (!isNumbered && fork.parent.sessionId !== origin.id) return false;
  return forkBase(title) === shortenAtWord(titleOf(origin), MAX_BASE);
}

function titleOf({ title, firstText }: SessionRecord): string {
  return title ?? firstText ?? "";
}
