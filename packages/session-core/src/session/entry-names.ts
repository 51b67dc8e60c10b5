import { AmbiguousNameError, EntryNotFoundError } from "../errors/session-errors.js";
import type { EntryId } from "../ids/ids.js";
import type { SessionRow } from "../port/records.js";
import type { SessionStorage } from "../port/session-storage.js";
import { ShownEntries } from "./shown-entries.js";

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
