import { CONVERSATION_TYPES } from "../entry/kinds.js";
import { isTyped } from "../entry/text.js";
import { AmbiguousNameError, EntryNotFoundError } from "../errors/session-errors.js";
import type { EntryId } from "../ids/ids.js";
import type { OutlineRow, SessionRow } from "../port/records.js";
import type { SessionStorage } from "../port/session-storage.js";

const SHAPE = /^(.*?)(?:~(\d+))?$/s;

/** The session in which a name is resolved, and the position of its leaf. */
interface NamingPlace {
  readonly storage: SessionStorage;
  readonly session: SessionRow;
  readonly leafId: EntryId | null;
}

/**
 * Resolves what a person typed to an entry: an id, a label, a unique id prefix, `@leaf`, `@root` (the first entry of the path),
 * or `@NAME` for a leaf. `~N` after any of them goes up by N entries that a tree shows (`ShownEntries`); alone it starts at the
 * leaf. From a leaf it counts as the tree draws it: `~0` is the last entry of the conversation, `@leaf` the leaf itself.
 *
 * @throws {AmbiguousNameError} with the candidates.
 * @throws {EntryNotFoundError} no entry matches.
 */
export async function resolveEntry(place: NamingPlace, name: string): Promise<EntryId> {
  const exact = await findExact(place, name);
  if (exact !== undefined) return exact;
  const [, base = "", up] = SHAPE.exec(name) ?? [];
  const from = base === "" ? "@leaf" : base;
  const id = await resolveBase(place, from, name);
  return up === undefined ? id : climb(place, id, Number(up), from.startsWith("@"), name);
}

/** An id may contain `~`: imports keep ids unchanged. */
async function findExact({ storage, session }: NamingPlace, name: string): Promise<EntryId | undefined> {
  const ids = await storage.entriesStartingWith(session, name, 1);
  return ids[0] === name ? name : undefined;
}

async function resolveBase(place: NamingPlace, base: string, typed: string): Promise<EntryId> {
  if (base.startsWith("@")) return resolveMark(place, base.slice(1), typed);
  const labelled = (await place.storage.labels(place.session, base)).filter(({ label }) => label.toLowerCase() === base.toLowerCase());
  const prefixed = await place.storage.entriesStartingWith(place.session, base, AmbiguousNameError.COUNTED);
  if (prefixed.includes(base)) return base;
  const found = labelled.length > 0 ? labelled.map(({ entryId }) => entryId) : prefixed;
  const [first] = found;
  if (first === undefined) throw new EntryNotFoundError(place.session.id, typed);
  if (found.length > 1) throw new AmbiguousNameError(typed, found);
  return first;
}

async function resolveMark({ storage, session, leafId }: NamingPlace, mark: string, typed: string): Promise<EntryId> {
  if (mark === "leaf") return present(session, leafId, typed);
  if (mark === "root") {
    const first = await storage.scanPath(session, { leafId, order: "down", limit: 1 });
    return present(session, first.items[0]?.id ?? null, typed);
  }
  const leaf = (await storage.leaves(session)).find(({ name }) => name === mark);
  return present(session, leaf?.entryId ?? null, typed);
}

function present(session: SessionRow, id: EntryId | null, typed: string): EntryId {
  if (id === null) throw new EntryNotFoundError(session.id, typed);
  return id;
}

/** From a leaf, the climb starts at the entry at which the tree draws it. */
async function climb({ storage, session }: NamingPlace, id: EntryId, up: number, isLeaf: boolean, typed: string): Promise<EntryId> {
  if (!Number.isSafeInteger(up)) throw new EntryNotFoundError(session.id, typed);
  if (up === 0 && !isLeaf) return id;
  const shown = await ShownEntries.open(storage, session);
  return present(session, await shown.above(isLeaf ? await shown.drawnAt(id) : id, up), typed);
}

/**
 * True if an entry belongs to the conversation: messages, summaries, a host's own messages. Tool results, reminders inserted by a
 * program, and changes of settings do not.
 */
export function isConversation(row: OutlineRow): boolean {
  // A `custom` message was inserted by a program (reminder, command output), unless it holds a slash command.
  if (row.type === "message") return row.role !== "toolResult" && (row.role !== "custom" || isTyped(row));
  return CONVERSATION_TYPES.includes(row.type);
}

/** True if an entry is a reply that only calls tools. Previews have text before calls, so one that starts with a call has no text. */
export function isOnlyCalls({ role, isError, preview }: Pick<OutlineRow, "role" | "isError" | "preview">): boolean {
  return role === "assistant" && !isError && preview.startsWith("[") && /^\[[^\]\s]+[^\]]*\]/.test(preview);
}

/** The number of entries of a path that are read first; later pages are four times as large. */
const FIRST_PAGE = 64;
const MAX_PAGE = 4096;
/** The number of entries above a leaf that are read first, to find where it is drawn. */
const DRAWN_PAGE = 8;

/**
 * The entries above one as the tree shows them without options: the conversation, labeled entries, and those where a leaf is drawn; replies in a
 * row that only call tools count once, unless they have a label or a leaf, begin a branch, or are a branch point. Reads the path
 * upwards as far as the caller reads, and the children of branch points beside such replies.
 */
class ShownEntries {
  readonly #storage: SessionStorage;
  readonly #session: SessionRow;
  readonly #marked = new Set<EntryId>();
  readonly #branchPoints = new Set<EntryId>();
  /** The path from the start upwards, as far as it was read. */
  readonly #path: OutlineRow[] = [];
  #isWhole = false;

  private constructor(storage: SessionStorage, session: SessionRow) {
    this.#storage = storage;
    this.#session = session;
  }

  /** Reads the facts that decide which entries are shown: labels, leaves, branch points. */
  static async open(storage: SessionStorage, session: SessionRow): Promise<ShownEntries> {
    const shown = new ShownEntries(storage, session);
    const [labels, leaves, branchPoints] = await Promise.all([
      storage.labels(session),
      storage.leaves(session),
      storage.branchPoints(session),
    ]);
    for (const { entryId } of labels) shown.#marked.add(entryId);
    const drawn = await Promise.all(leaves.map(({ entryId }) => (entryId === null ? null : shown.drawnAt(entryId))));
    for (const id of drawn) if (id !== null) shown.#marked.add(id);
    for (const { id } of branchPoints) shown.#branchPoints.add(id);
    return shown;
  }

  /** The entry at which a leaf is drawn: the nearest one of the conversation or with a label, at the leaf or above it, else its own. */
  async drawnAt(leafId: EntryId): Promise<EntryId> {
    for (let [limit, seen] = [DRAWN_PAGE, 0]; ; [limit, seen] = [Math.min(limit * 4, MAX_PAGE + seen), limit]) {
      const path = await this.#storage.outlinePath(this.#session, leafId, limit);
      const row = path.slice(seen).find((above) => this.#isShown(above));
      if (row !== undefined) return row.id;
      if (path.length < limit) return leafId;
    }
  }

  /**
   * The entry that is `up` shown entries above one; null: there are fewer. Of several replies that count once it is the last one.
   * Entry 0 is the given one, shown or not. Cost: the path in between.
   */
  async above(id: EntryId, up: number): Promise<EntryId | null> {
    this.#path.length = 0;
    this.#isWhole = false;
    await this.#readMore(id);
    let place = 0;
    let counted = 0;
    let isInRun = await this.#isRunPart(place);
    while (counted < up) {
      place = await this.#nextShown(place);
      if (this.#path[place] === undefined) return null;
      const belongs = await this.#isRunPart(place);
      if (!belongs || !isInRun) counted += 1;
      isInRun = belongs;
    }
    return this.#path[place]?.id ?? null;
  }

  /** The place on the path of the nearest shown entry above another one; the length of the path if there is none. */
  async #nextShown(place: number): Promise<number> {
    for (let next = place + 1; ; next += 1) {
      if (next >= this.#path.length) await this.#readMore();
      const row = this.#path[next];
      if (row === undefined || this.#isShown(row)) return next;
    }
  }

  async #isRunPart(place: number): Promise<boolean> {
    const row = this.#path[place];
    if (row === undefined || !isOnlyCalls(row) || this.#marked.has(row.id)) return false;
    const above = await this.#nextShown(place);
    return this.#path[above] !== undefined && !(await this.#isBranchPoint(place)) && !(await this.#isBranchPoint(above));
  }

  /** True if several shown entries are directly below a shown entry of the path, or below hidden entries under it. */
  async #isBranchPoint(place: number): Promise<boolean> {
    let onPath = place - 1;
    while (onPath >= 0 && !this.#isShownAt(onPath)) onPath -= 1;
    // Nothing shown is below it on the path: all shown entries below it are counted.
    if (onPath < 0) return (await this.#countShownBelow(this.#path[place]?.id, undefined, 2)) > 1;
    for (let at = onPath + 1; at <= place; at += 1) {
      const row = this.#path[at];
      if (row === undefined || !this.#branchPoints.has(row.id)) continue;
      if ((await this.#countShownBelow(row.id, this.#path[at - 1]?.id, 1)) > 0) return true;
    }
    return false;
  }

  /** Counts the shown entries below an entry, directly or under hidden ones; stops at `most`. `except`: a child that is left out. */
  async #countShownBelow(id: EntryId | undefined, except: EntryId | undefined, most: number): Promise<number> {
    let count = 0;
    const hidden = id === undefined ? [] : [id];
    for (let next = hidden.pop(); next !== undefined && count < most; next = hidden.pop()) {
      for (const child of await this.#storage.children(this.#session, next)) {
        if (child.id === except) continue;
        if (this.#isShown(child)) count += 1;
        else hidden.push(child.id);
      }
    }
    return count;
  }

  #isShownAt(place: number): boolean {
    const row = this.#path[place];
    return row !== undefined && this.#isShown(row);
  }

  #isShown(row: OutlineRow): boolean {
    return isConversation(row) || this.#marked.has(row.id);
  }

  async #readMore(from = this.#path.at(-1)?.id): Promise<void> {
    if (this.#isWhole || from === undefined) return;
    const known = this.#path.length === 0 ? 0 : 1;
    const limit = Math.min(Math.max(FIRST_PAGE, this.#path.length * 3), MAX_PAGE);
    const page = await this.#storage.outlinePath(this.#session, from, limit + known);
    this.#isWhole = page.length < limit + known;
    this.#path.push(...page.slice(known));
  }
}
