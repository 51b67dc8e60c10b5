import { readFile, stat } from "node:fs/promises";
import { canHaveSecret, SessionMasks } from "@bough/formats/secrets";
import {
  type Entry,
  type EntryId,
  type SearchHit,
  type Session,
  type SessionId,
  type SessionRecord,
  type Store,
  textOf,
} from "@bough/session-core";
import { createSnippetWriter, groupBy, isSystemError, readQuestion } from "@bough/session-core/engine";
import { isPrivate, isSmallTalk, isSummary, oneLine, previewOf, readableSummary, shortLine } from "@bough/session-core/view";
import { sessionTitle } from "../session/names.js";
import { listSessions } from "../session/paging.js";
import { type Place, placeFilters } from "../session/place.js";
import type { HookCall } from "./hook-input.js";

/** A passage of an earlier session. */
export interface Passage {
  readonly sessionId: SessionId;
  readonly entryId: EntryId;
  readonly createdAtMs: number;
  readonly title: string;
  /** Who said it: `the user`, `the agent`, or `a tool`. */
  readonly speaker: string;
  /** The text around the words, on one line, without secrets. */
  readonly text: string;
  /** The beginning of what was answered to a message of the user; null: nothing, or it is no such message. */
  readonly reply: string | null;
  /** The files that the turn of the passage touched, newest last, as its calls name them. */
  readonly files: readonly string[];
  /** The directory against which the files resolve; null: unknown. */
  readonly cwd: string | null;
  /** 0 to 1: how much of the prompt the entry and those around it have; 1 at the start of a session. */
  readonly score: number;
}

/** The least score of an entry that is shown: test/eval/memory.mjs chooses it on half of the real sessions and judges it on the others. */
const LEAST_SCORE = 0.26;
/** Passages with less than this part of the best score are left out. */
const NEAR_BEST = 0.75;
const MOST_PASSAGES = 3;
/** A prompt with fewer telling words says nothing that could be looked up. */
const LEAST_WORDS = 2;
/** The most of a prompt that is looked up, in UTF-16 code units: what is asked stands at its start or end. */
const PROMPT_CHARS = 600;
const PASSAGE_CHARS = 420;
const REPLY_CHARS = 300;
/** Sessions of a place are recorded in one directory, or in a few below it. */
const MOST_DIRECTORIES = 4;

/**
 * Returns what earlier sessions of a place say about a prompt, best first, or at a start the newest sessions; empty: nothing that fits well.
 * `leastScore`: a passage with a lower score fits badly.
 */
export async function findMemory(store: Store, place: Place, call: HookCall, leastScore = LEAST_SCORE): Promise<readonly Passage[]> {
  const records = await listHere(store, place);
  const own = await ownSession(call);
  const others = records.filter((record) => !own.isSession(record));
  if (others.length === 0) return [];
  if (call.kind === "start") return maskDrafts(await draftNewest(store, others));
  const query = queryOf(call.prompt);
  if (query === undefined) return [];
  const hits = await searchHere(store, others, query);
  const fitting = hits.filter(({ score, entryId }) => (score ?? 0) >= leastScore && entryId !== null);
  const least = (fitting[0]?.score ?? 0) * NEAR_BEST;
  const drafts: Draft[] = [];
  const writeSnippet = createSnippetWriter(readQuestion(query) ?? []);
  for (const hit of fitting) {
    if (drafts.length === MOST_PASSAGES || (hit.score ?? 0) < least) break;
    if (own.hasEntry(hit) || drafts.some(({ session, entry }) => session.id === hit.sessionId && entry.id === hit.entryId)) continue;
    const draft = await draftHit(store, hit, writeSnippet);
    if (draft !== undefined && !drafts.some((one) => one.write(one.entry) === draft.write(draft.entry))) drafts.push(draft);
  }
  return maskDrafts(drafts);
}

/** The sessions of a place, newest first. Cost: about 10 ms for 1,000. */
async function listHere(store: Store, place: Place): Promise<readonly SessionRecord[]> {
  const lists = await Promise.all(placeFilters(place).map((filter) => listSessions(store, { ...filter, archived: "all" })));
  return lists.flat().sort((one, other) => other.activeAtMs - one.activeAtMs);
}

interface OwnSession {
  readonly isSession: (record: SessionRecord) => boolean;
  /** True if the session has an entry: under its own id, or as a copy. */
  readonly hasEntry: (hit: SearchHit) => boolean;
}

/** The largest transcript that is read for the entries of the session, in bytes. */
const MAX_TRANSCRIPT = 50_000_000;

/** Recognizes the session that asks, under the ids that an import gives it, and what a resumed or forked one has of others. */
async function ownSession({ sessionId, transcript }: HookCall): Promise<OwnSession> {
  const text = transcript === undefined ? "" : await readTranscript(transcript);
  const isOwn = (id: string): boolean =>
    sessionId !== undefined && (id === sessionId || id.startsWith(`${sessionId}.`) || id.startsWith(`${sessionId}-`));
  return {
    isSession: ({ id, source }) => isOwn(id) || (transcript !== undefined && source?.path === transcript),
    hasEntry: ({ entryId, copies }) =>
      (entryId !== null && entryId.length >= 8 && text.includes(entryId)) || copies.some((copy) => isOwn(copy.sessionId)),
  };
}

async function readTranscript(path: string): Promise<string> {
  try {
    const found = await stat(path);
    // A pipe might never end.
    return !found.isFile() || found.size > MAX_TRANSCRIPT ? "" : await readFile(path, "utf8");
  } catch (error) {
    // The agent has not written it yet.
    if (isSystemError(error)) return "";
    throw error;
  }
}

/** The words of a prompt that are looked up; undefined: it asks for nothing. Quotation marks, expressions and code would ask for exact texts. */
function queryOf(prompt: string): string | undefined {
  const text = withoutElements(prompt.replace(/```[\s\S]*?(?:```|$)/g, " "))
    .replace(/["*`<>()[\]{}|\\]/g, " ")
    .replace(/(^|\s)\/(?=\S*\/)/g, "$1")
    .replace(/\s+/g, " ")
    .trim();
  if (text.startsWith("/") || text.startsWith("!") || isSmallTalk(text)) return undefined;
  const short = text.length <= PROMPT_CHARS ? text : `${text.slice(0, PROMPT_CHARS / 2)} ${text.slice(-PROMPT_CHARS / 2)}`;
  const words = short.match(/[\p{L}\p{N}_][\p{L}\p{N}_.-]*/gu) ?? [];
  return words.filter((word) => word.length > 3).length < LEAST_WORDS ? undefined : `${short.replace(/[?？]+\s*$/, "")}?`;
}

/** A text with a blank for each `<name>…</name>`, as agents attach files and reminders. Linear: pasted HTML has many tags that nothing closes. */
function withoutElements(text: string): string {
  const closings = groupBy([...text.matchAll(/<\/([\w-]+)>/g)].reverse(), ([, name]) => name);
  let kept = "";
  let done = 0;
  for (const { 0: tag, 1: name, index } of text.matchAll(/<([\w-]+)>/g)) {
    if (index < done) continue;
    const left = closings.get(name) ?? [];
    while ((left.at(-1)?.index ?? text.length) < index + tag.length) left.pop();
    const closing = left.at(-1);
    if (closing === undefined) continue;
    kept += `${text.slice(done, index)} `;
    done = closing.index + closing[0].length;
  }
  return kept + text.slice(done);
}

/** Output of tools repeats what files say, at length. */
const SPEAKERS = ["user", "assistant"] as const;

async function searchHere(store: Store, records: readonly SessionRecord[], query: string): Promise<readonly SearchHit[]> {
  const directories = [...new Set(records.map(({ cwd }) => cwd))].filter((cwd) => cwd !== null).slice(0, MOST_DIRECTORIES);
  const pages = await Promise.all(
    directories.map((cwd) => {
      // Without the session that asks, whose entries have most words of the prompt.
      const sessionIds = records.filter((record) => record.cwd === cwd).map(({ id }) => id);
      return store.search({ query, cwd, sessionIds, relax: true, roles: SPEAKERS, limit: 12, snippets: false });
    }),
  );
  return pages.flatMap(({ hits }) => hits).sort((one, other) => (other.score ?? 0) - (one.score ?? 0));
}

/** A passage before its secrets are taken out. */
interface Draft {
  readonly session: Session;
  readonly record: SessionRecord;
  readonly entry: Entry;
  readonly reply: Entry | null;
  readonly files: readonly string[];
  readonly score: number;
  /** The text of the passage, from the entry with or without its secrets. */
  readonly write: (entry: Entry) => string;
}

async function draftHit(
  store: Store,
  { sessionId, entryId, score }: SearchHit,
  writeSnippet: (text: string) => { readonly snippet: string },
): Promise<Draft | undefined> {
  if (entryId === null) return undefined;
  const session = await store.openSession(sessionId);
  const entry = (await session.entriesById([entryId])).get(entryId);
  if (entry === undefined || isPrivate(entry)) return undefined;
  const write = (shown: Entry) => excerpt(readableText(shown), writeSnippet);
  return { session, record: await session.record(), entry, ...(await readTurn(session, entry)), score: score ?? 0, write };
}

/**
 * Writes drafts without their secrets, which are taken out before a text is cut, because a part of one is not recognized. A session is read
 * for secrets that stand elsewhere once, and only if a word of the texts can be one: reading costs more than all the rest.
 */
async function maskDrafts(drafts: readonly Draft[]): Promise<readonly Passage[]> {
  const masks = new SessionMasks();
  const titles = new Map<Draft, string>();
  for (const draft of drafts) titles.set(draft, await masks.maskTitle(sessionTitle(draft.record), async () => draft.session));
  const unsure = new Map<SessionId, Entry[]>();
  for (const { session, entry, reply, write } of drafts) {
    const shown = [canHaveSecret(write(entry)) ? entry : null, reply !== null && canHaveSecret(shortReply(reply)) ? reply : null];
    unsure.set(session.id, [...(unsure.get(session.id) ?? []), ...shown.filter((one) => one !== null)]);
  }
  const masked = new Map<Entry, Entry>();
  for (const [id, entries] of unsure) {
    const session = drafts.find((draft) => draft.session.id === id)?.session;
    if (session === undefined || entries.length === 0) continue;
    const masker = await masks.forEntries(session, entries);
    for (const entry of entries) masked.set(entry, masker.maskEntry(entry));
  }
  return drafts.map((draft) => {
    const { session, record, entry, reply, files, score, write } = draft;
    return {
      sessionId: session.id,
      entryId: entry.id,
      createdAtMs: entry.createdAtMs,
      title: titles.get(draft) ?? "",
      speaker: speakerOf(entry),
      text: write(masked.get(entry) ?? entry),
      reply: reply === null ? null : shortReply(masked.get(reply) ?? reply),
      files,
      cwd: record.cwd,
      score,
    };
  });
}

function shortReply(entry: Entry): string {
  return shortLine(readableText(entry), REPLY_CHARS);
}

/** The text that a person or a model wrote in an entry; of an entry without text its preview. */
function readableText(entry: Entry): string {
  if (isSummary(entry)) return readableSummary(entry.summary);
  if (entry.type !== "message") return previewOf(entry);
  const { message } = entry;
  if (message.role === "user" || message.role === "toolResult") return textOf(message.content);
  if (message.role !== "assistant") return previewOf(entry);
  const said = message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  return said.trim() === "" ? previewOf(entry) : said;
}

/** The characters of the passage before the words that were found. */
const LEAD = 80;
const PROBE = 24;

/** The part of a text around the words of the prompt, on one line. Made from the text without secrets, because it may begin inside of one. */
function excerpt(text: string, writeSnippet: (text: string) => { readonly snippet: string }): string {
  const line = oneLine(text, text.length);
  const middle = writeSnippet(line)
    .snippet.replace(/^…|…$/g, "")
    .slice(20, 20 + PROBE)
    .trim();
  const at = middle === "" ? -1 : line.indexOf(middle);
  const from = at <= LEAD ? 0 : line.indexOf(" ", at - LEAD) + 1;
  return `${from > 0 ? "…" : ""}${shortLine(line.slice(from), PASSAGE_CHARS)}`;
}

function speakerOf(entry: Entry): string {
  const role = entry.type === "message" ? entry.message.role : entry.type;
  if (role === "user") return "the user";
  if (role === "assistant") return "the agent";
  return role === "compaction" || role === "branch_summary" ? "a summary" : "a tool";
}

/** The last reply of the turn that a message of the user began, and the files that its calls touched. Other entries: only their own files. */
async function readTurn(session: Session, entry: Entry): Promise<{ readonly reply: Entry | null; readonly files: readonly string[] }> {
  const tip = await session.tree.tipBelow(entry.id);
  const { items } = await session.scan({ leafId: tip, stopAt: entry.id, order: "down", types: ["message"], limit: 60 });
  const following = items.filter(({ id }) => id !== entry.id);
  const end = following.findIndex((one) => one.type === "message" && one.message.role === "user");
  const turn = end < 0 ? following : following.slice(0, end);
  const replies = turn.filter((one) => one.type === "message" && one.message.role === "assistant");
  const isRequest = entry.type === "message" && entry.message.role === "user";
  const last = replies.at(-1);
  const toId = turn.at(-1)?.id ?? entry.id;
  const operations = await session.fileOperations({ fromId: entry.id, toId });
  const files = [...new Set(operations.filter(({ outcome }) => outcome !== "failed").map(({ path }) => path))];
  return { reply: isRequest && last !== undefined ? last : null, files: files.slice(-20) };
}

const NEWEST = 3;

/** The newest sessions of a place: the last request of each. */
async function draftNewest(store: Store, records: readonly SessionRecord[]): Promise<readonly Draft[]> {
  const drafts: Draft[] = [];
  for (const record of records.filter(({ messageCount, kind }) => messageCount > 1 && kind === "conversation")) {
    if (drafts.length === NEWEST) break;
    const session = await store.openSession(record.id);
    const leafId = session.leafId;
    if (leafId === null) continue;
    const { items } = await session.scan({ leafId, order: "up", types: ["message"], limit: 200 });
    const last = items.find((one) => one.type === "message" && one.message.role === "user" && !isSmallTalk(previewOf(one)));
    if (last === undefined) continue;
    const write = (shown: Entry) => shortLine(readableText(shown), PASSAGE_CHARS);
    drafts.push({ session, record, entry: last, ...(await readTurn(session, last)), score: 1, write });
  }
  return drafts;
}
