import { hash } from "node:crypto";
import { groupBy } from "../collections/group-by.js";
import type { EntryId, SessionId } from "../ids/ids.js";
import type { EntryPayload } from "./entry.js";
import type { Message } from "./message.js";
import { usageOf } from "./usage.js";

// The origin of an entry is the same for all copies of it, in whatever sessions they are. Of an imported entry it is the key of its content
// (`contentKey`); of a copy of an entry that was written here it is a reference to that entry, which has no origin itself.

/** An entry of a session by its ids. */
export interface EntryReference {
  readonly sessionId: SessionId;
  readonly entryId: EntryId;
}

/** The origin of the copies of an entry that has none itself. Neither id contains a space. */
export function originOf({ sessionId, entryId }: EntryReference): string {
  return `${originsIn(sessionId)}${entryId}`;
}

/** Returns the prefix of the origins that refer to entries of a session, which is also the start of their range. */
export function originsIn(sessionId: SessionId): string {
  return `${sessionId} `;
}

/** Returns the end of the range of origins that refer to entries of a session: `!` is the character after the space. */
export function originsAfter(sessionId: SessionId): string {
  return `${sessionId}!`;
}

/** The entry to which an origin refers; undefined: it is the key of a content. */
export function referenceIn(origin: string): EntryReference | undefined {
  const end = origin.indexOf(" ");
  return end === -1 ? undefined : { sessionId: origin.slice(0, end), entryId: origin.slice(end + 1) };
}

/** Orders forks so that each comes after the session that it was forked from: its references can then be those of that session. */
export function sourcesFirst<F extends { readonly id: SessionId; readonly parent: SessionId }>(forks: readonly F[]): readonly F[] {
  const byId = new Map(forks.map((fork) => [fork.id, fork]));
  const ordered = new Set<F>();
  for (const fork of forks) {
    const line = new Set<F>();
    // Sessions that are each other's forks end the line.
    for (let at: F | undefined = fork; at !== undefined && !ordered.has(at) && !line.has(at); at = byId.get(at.parent)) line.add(at);
    for (const one of [...line].reverse()) ordered.add(one);
  }
  return [...ordered];
}

/** A session with an entry of which there are copies. */
export interface Holder {
  readonly sessionId: SessionId;
  readonly parentId: SessionId | null;
  readonly createdAtMs: number;
  readonly activeAtMs: number;
  /** The order in which the sessions came into the store. */
  readonly arrival: number;
}

/**
 * Returns the session whose entry is the original; the entries of the others are copies. A fork never has the original of an entry of its
 * source. Without a link, returns the session that was created first; of two with the same first record, the one that ended first.
 */
function chooseOriginal<H extends Holder>(holders: readonly H[]): H | undefined {
  const byId = new Map(holders.map((holder) => [holder.sessionId, holder]));
  const roots = holders.filter(({ parentId, sessionId }) => parentId === null || parentId === sessionId || !byId.has(parentId));
  // Sessions that are each other's forks have no root.
  const [first, ...others] = roots.length === 0 ? holders : roots;
  return first && others.reduce((best, one) => (comesBefore(one, best) ? one : best), first);
}

function comesBefore(a: Holder, b: Holder): boolean {
  return (a.createdAtMs - b.createdAtMs || a.activeAtMs - b.activeAtMs || a.arrival - b.arrival) < 0;
}

/** An entry with an origin that several sessions have. */
export interface SharedEntry<S> {
  readonly origin: string;
  readonly session: S;
  readonly seq: number;
  readonly inherited: boolean;
}

/** An entry that becomes a copy, or the original. */
export interface ChangedEntry<S> {
  readonly session: S;
  readonly seq: number;
  readonly inherited: boolean;
}

/** The entries of an origin, and the session that has the original. */
interface OriginGroup<S> {
  readonly origin: string;
  readonly entries: readonly SharedEntry<S>[];
  readonly original: (Holder & { readonly session: S }) | undefined;
}

function groupsOf<S>(entries: readonly SharedEntry<S>[], holderOf: (session: S) => Holder | undefined): readonly OriginGroup<S>[] {
  return [...groupBy(entries, ({ origin }) => origin)].map(([origin, group]) => {
    const holders = [...new Set(group.map(({ session }) => session))].flatMap((session) => {
      const holder = holderOf(session);
      return holder === undefined ? [] : [{ ...holder, session }];
    });
    // The entry that a reference names is the original, whatever its copies say of their sessions.
    const named = referenceIn(origin)?.sessionId;
    const original = holders.find(({ sessionId }) => sessionId === named) ?? chooseOriginal(holders);
    return { origin, entries: group, original };
  });
}

/**
 * Decides which entries are originals: of each origin those of one session. Returns the entries that are marked otherwise.
 */
export function decideOriginals<S>(
  entries: readonly SharedEntry<S>[],
  holderOf: (session: S) => Holder | undefined,
): readonly ChangedEntry<S>[] {
  return groupsOf(entries, holderOf).flatMap(({ entries: group, original }) =>
    group.flatMap(({ session, seq, inherited }) => {
      const isCopy = session !== original?.session;
      return isCopy === inherited ? [] : [{ session, seq, inherited: isCopy }];
    }),
  );
}

/**
 * Lists the origins of which all entries must be read. `entries`: of each origin those that count as originals, those of `added`, to which an
 * import has added entries, and the one that a reference names. `copiedInSource`: those with a copy in the session that `added` is a fork of.
 * These are enough where the original is in one other session, which once came before all copies: then `added` comes after it, or before it
 * and all of them. Where the link of a session says otherwise, the copies take part.
 */
export function listUndecided<S>(
  origins: readonly string[],
  entries: readonly SharedEntry<S>[],
  added: S,
  holderOf: (session: S) => Holder | undefined,
  copiedInSource: ReadonlySet<string>,
): readonly string[] {
  const arriving = holderOf(added);
  const decided = new Set<string>();
  for (const { origin, entries: group } of groupsOf(entries, holderOf)) {
    const others = [...new Set(group.map(({ session }) => session))].filter((session) => session !== added).map(holderOf);
    const named = referenceIn(origin)?.sessionId;
    const [other] = others;
    const isNamed = named !== undefined && [arriving, ...others].some((holder) => holder?.sessionId === named);
    const isPair =
      arriving !== undefined && other !== undefined && others.length === 1 && isDecidedBetween(other, arriving, copiedInSource.has(origin));
    if (isNamed || isPair) decided.add(origin);
  }
  return origins.filter((origin) => !decided.has(origin));
}

function isDecidedBetween(original: Holder, arriving: Holder, isCopiedInSource: boolean): boolean {
  if (original.parentId === arriving.sessionId) return false;
  return arriving.parentId === original.sessionId || comesBefore(original, arriving) || !isCopiedInSource;
}

/** An entry of a session that arrived from another store, and an original of the same origin that would become its copy. */
export interface Claim<S> {
  readonly origin: string;
  readonly claimed: SharedEntry<S>;
  readonly original: SharedEntry<S>;
  /** The session that the original's session is a fork of. */
  readonly originalParentId: SessionId | null;
}

/**
 * Lists the originals that would become copies of entries of a session that arrived from another store, where the links of the sessions here do not
 * say so themselves. Origins and times are what the other store says: `isClaimProven` compares the entries.
 */
export function listClaims<S>(
  entries: readonly SharedEntry<S>[],
  arrived: S,
  holderOf: (session: S) => Holder | undefined,
): readonly Claim<S>[] {
  return groupsOf(entries, holderOf).flatMap(({ origin, entries: group, original: winner }) => {
    if (winner?.session !== arrived || referenceIn(origin) !== undefined) return [];
    const originals = group.filter(({ session, inherited }) => session !== arrived && !inherited);
    return originals.flatMap((original) => {
      const originalParentId = holderOf(original.session)?.parentId ?? null;
      if (originalParentId === winner.sessionId) return [];
      return group.flatMap((claimed) => (claimed.session === arrived ? [{ origin, claimed, original, originalParentId }] : []));
    });
  });
}

/** The content of an entry in a comparison; undefined payload: it is damaged. */
export interface ClaimEntry {
  readonly id: EntryId;
  readonly createdAtMs: number;
  readonly payload: EntryPayload | undefined;
}

/**
 * True if an original may become a copy of an entry that arrived from another store: both say the same and count the same, so nothing is hidden
 * from a search or from the totals. Of a fork whose source is missing, entries may be in another form than in their source: there the entry
 * that arrived must have the content of the origin.
 */
export function isClaimProven(origin: string, claimed: ClaimEntry, original: ClaimEntry, isSourceMissing: boolean): boolean {
  if (claimed.payload === undefined || original.payload === undefined) return false;
  if (contentOf(claimed.payload, claimed.id) === contentOf(original.payload, original.id)) return true;
  return isSourceMissing && contentKey(claimed.payload, claimed.createdAtMs, claimed.id) === origin;
}

function contentOf(payload: EntryPayload, id: EntryId): string {
  const said = payload.type === "message" ? wordsOf(payload.message) : JSON.stringify(saidBy(payload, id));
  return JSON.stringify([payload.type, said, usageOf(payload)]);
}

/** The length of a key: 96 bits in base64url. */
const KEY_LENGTH = 16;

/**
 * Returns a key that is equal for copies of an entry in other files of its program. Programs that copy a session keep the times and the
 * content of its entries, but some give them new ids. The key of a reply is the id of its response, as in ccusage, because a program
 * may write other members of it again. The key of a record that is no entry is its own id. Returns undefined if the source has no time
 * of the entry (0): the key could then not distinguish copies from equal words of unrelated sessions.
 *
 * @param contentJson The JSON text of the content of a message, if it is known: writing it takes as long as the rest of the key.
 */
export function contentKey(payload: EntryPayload, createdAtMs: number, id: EntryId, contentJson?: string): string | undefined {
  if (createdAtMs === 0) return undefined;
  const said = payload.type === "message" ? saidIn(payload.message, contentJson) : JSON.stringify(saidBy(payload, id));
  // One call: an object of a digest costs more than the digest of a usual entry.
  return hash("sha256", `${createdAtMs}\n${payload.type}\n${said}`, "base64url").slice(0, KEY_LENGTH);
}

function saidIn(message: Message, contentJson: string | undefined): string {
  const responseId = message.role === "assistant" ? message.responseId : undefined;
  return typeof responseId === "string" && responseId !== "" ? JSON.stringify(["response", responseId]) : wordsOf(message, contentJson);
}

/** The JSON text of a list of what a message says, its role first. */
function wordsOf(message: Message, contentJson?: string): string {
  if (message.role === "bashExecution") return JSON.stringify([message.role, message.command, message.output]);
  const content = contentJson ?? JSON.stringify(message.content);
  switch (message.role) {
    case "assistant":
      return `["assistant",${content},${JSON.stringify(message.errorMessage ?? null)}]`;
    case "toolResult":
      return `["toolResult",${JSON.stringify(message.toolCallId)},${content}]`;
    case "custom":
      return `["custom",${JSON.stringify(message.customType)},${content}]`;
    case "system":
    case "user":
      return `["${message.role}",${content}]`;
  }
}

function saidBy(payload: Exclude<EntryPayload, { type: "message" }>, id: EntryId): readonly unknown[] {
  switch (payload.type) {
    case "compaction":
    case "branch_summary":
      return [payload.summary];
    case "model_change":
      return [payload.provider, payload.modelId];
    case "thinking_level_change":
      return [payload.thinkingLevel];
    case "custom_message":
      return [payload.customType, payload.content];
    case "custom":
      return [payload.customType, payload.data];
    // Their content names entries or the session, which are others in a copy.
    case "context_edit":
    case "foreign":
      return [id];
  }
}
