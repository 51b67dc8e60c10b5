import { readFile, stat } from "node:fs/promises";
import { SessionMasks } from "@bough/formats/secrets";
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
import { createSnippetWriter, readQuestion } from "@bough/session-core/engine";
import { isPrivate, isSmallTalk, isSummary, oneLine, previewOf, readableSummary, shortLine } from "@bough/session-core/view";
import { sessionTitle } from "../session/names.js";
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

/** The least score of an entry that is shown. Measured by test/eval/memory.mjs, which chooses it on one half of the real sessions and judges it on the other. */
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
  const masks = new SessionMasks();
  if (call.kind === "start") return describeNewest(store, others, masks);
  const query = queryOf(call.prompt);
  if (query === undefined) return [];
  const hits = await searchHere(store, others, query);
  const fitting = hits.filter(({ score, entryId }) => (score ?? 0) >= leastScore && entryId !== null);
  const least = (fitting[0]?.score ?? 0) * NEAR_BEST;
  const passages: Passage[] = [];
  const writeSnippet = createSnippetWriter(readQuestion(query) ?? []);
  for (const hit of fitting) {
    if (passages.length === MOST_PASSAGES || (hit.score ?? 0) < least) break;
    if (own.hasEntry(hit) || passages.some((one) => one.sessionId === hit.sessionId && one.entryId === hit.entryId)) continue;
    const passage = await describeHit(store, hit, masks, writeSnippet);
    if (passage !== undefined && !passages.some(({ text }) => text === passage.text)) passages.push(passage);
  }
  return passages;
}

/** The sessions of a place, newest first. */
async function listHere(store: Store, place: Place): Promise<readonly SessionRecord[]> {
  const lists = await Promise.all(placeFilters(place).map((filter) => store.listSessions({ ...filter, limit: 100, archived: "all" })));
  return lists.flatMap(({ items }) => items).sort((one, other) => other.activeAtMs - one.activeAtMs);
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
    if (error instanceof Error && "errno" in error) return "";
    throw error;
  }
}

/** The words of a prompt that are looked up; undefined: it asks for nothing. Quotation marks, expressions and code would ask for exact texts. */
function queryOf(prompt: string): string | undefined {
  const text = prompt
    .replace(/```[\s\S]*?(?:```|$)/g, " ")
    .replace(/<([\w-]+)>[\s\S]*?<\/\1>/g, " ")
    .replace(/["*`<>()[\]{}|\\]/g, " ")
    .replace(/(^|\s)\/(?=\S*\/)/g, "$1")
    .replace(/\s+/g, " ")
    .trim();
  if (text.startsWith("/") || text.startsWith("!") || isSmallTalk(text)) return undefined;
  const short = text.length <= PROMPT_CHARS ? text : `${text.slice(0, PROMPT_CHARS / 2)} ${text.slice(-PROMPT_CHARS / 2)}`;
  const words = short.match(/[\p{L}\p{N}_][\p{L}\p{N}_.-]*/gu) ?? [];
  return words.filter((word) => word.length > 3).length < LEAST_WORDS ? undefined : `${short.replace(/[?？]+\s*$/, "")}?`;
}

/** Output of tools repeats what files say, at length. */
const SPEAKERS = ["user", "assistant"] as const;

async function searchHere(store: Store, records: readonly SessionRecord[], query: string): Promise<readonly SearchHit[]> {
  const directories = [...new Set(records.map(({ cwd }) => cwd))].filter((cwd) => cwd !== null).slice(0, MOST_DIRECTORIES);
  const ids = new Set(records.map(({ id }) => id));
  const pages = await Promise.all(
    directories.map((cwd) => store.search({ query, cwd, relax: true, roles: SPEAKERS, limit: 12, snippets: false })),
  );
  return pages
    .flatMap(({ hits }) => hits)
    .filter(({ sessionId }) => ids.has(sessionId))
    .sort((one, other) => (other.score ?? 0) - (one.score ?? 0));
}

async function describeHit(
  store: Store,
  hit: SearchHit,
  masks: SessionMasks,
  writeSnippet: (text: string) => { readonly snippet: string },
): Promise<Passage | undefined> {
  const { sessionId, entryId, createdAtMs, score } = hit;
  if (entryId === null) return undefined;
  const session = await store.openSession(sessionId);
  const entry = (await session.entriesById([entryId])).get(entryId);
  if (entry === undefined || isPrivate(entry)) return undefined;
  const record = await session.record();
  const turn = await readTurn(session, entry);
  return {
    sessionId,
    entryId,
    createdAtMs,
    title: await masks.maskTitle(sessionTitle(record), async () => session),
    speaker: speakerOf(entry),
    text: await writeMasked(masks, session, entry, (shown) => excerpt(readableText(shown), writeSnippet)),
    reply: turn.reply === null ? null : await writeMasked(masks, session, turn.reply, shortReply),
    files: turn.files,
    cwd: record.cwd,
    score: score ?? 0,
  };
}

/**
 * Writes an entry without its secrets. The session is read for what is secret in it only if a word of the written text can be a secret: that
 * costs more than all the rest. The secrets are taken out before the text is cut, because a part of one is not recognized.
 */
async function writeMasked(masks: SessionMasks, session: Session, entry: Entry, write: (entry: Entry) => string): Promise<string> {
  const plain = write(entry);
  let canBeSecret = false;
  await masks.maskTitle(plain, async () => {
    canBeSecret = true;
    return session;
  });
  return canBeSecret ? write((await masks.of(session)).maskEntry(entry)) : plain;
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

/** The newest sessions of a place: their titles, and the last request of each. */
async function describeNewest(store: Store, records: readonly SessionRecord[], masks: SessionMasks): Promise<readonly Passage[]> {
  const passages: Passage[] = [];
  for (const record of records.filter(({ messageCount, kind }) => messageCount > 1 && kind === "conversation")) {
    if (passages.length === NEWEST) break;
    const session = await store.openSession(record.id);
    const leafId = session.leafId;
    if (leafId === null) continue;
    const { items } = await session.scan({ leafId, order: "up", types: ["message"], limit: 200 });
    const last = items.find((one) => one.type === "message" && one.message.role === "user" && !isSmallTalk(previewOf(one)));
    if (last === undefined) continue;
    const turn = await readTurn(session, last);
    passages.push({
      sessionId: record.id,
      entryId: last.id,
      createdAtMs: last.createdAtMs,
      title: await masks.maskTitle(sessionTitle(record), async () => session),
      speaker: "the user",
      text: await writeMasked(masks, session, last, (shown) => shortLine(readableText(shown), PASSAGE_CHARS)),
      reply: turn.reply === null ? null : await writeMasked(masks, session, turn.reply, shortReply),
      files: turn.files,
      cwd: record.cwd,
      score: 1,
    });
  }
  return passages;
}
