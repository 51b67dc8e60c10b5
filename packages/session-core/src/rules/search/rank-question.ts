import { groupBy } from "../../collections/group-by.js";
import type { MessageRole } from "../../entry/message.js";
import type { AskedTerm } from "./question.js";
import { createMatcher, FoldedText } from "./term-matcher.js";

// The rank of an entry for a question is the sum of three scores and a bonus. Each score is a sum over the words of the question, in which a rare
// word weighs more, and a word that occurs often or in a short text more than one that occurs once in a long one (BM25):
//
// - the entry itself;
// - the entry with the ones before and after it, since an answer often has no word of the question that it answers;
// - the ten entries before and after, and the title of the session: what the conversation is about;
// - words that stand close together in the entry.
//
// Before and after are the entries of its path and those that it is on the path of: of a session with branches, not what arrived in between.
//
// The scores depend on no average of the store, so they are the same in both engines, and for entries that are not indexed yet.

/** An entry that has words of a question. */
export interface AskedEntry {
  /** The id of the session. */
  readonly session: string;
  /** Its place in the order in which the entries of its session arrived. */
  readonly seq: number;
  /** The number of entries above it. */
  readonly depth: number;
  readonly role: MessageRole | null;
  readonly createdAtMs: number;
  /** The length of its text in words. */
  readonly words: number;
  /** Of each word of the question, where it occurs: numbers of words in the text. A phrase occurs once, at -1. */
  readonly places: readonly (readonly number[])[];
}

/** An entry with its rank. `score`: 0 to 1, the rank as a part of the highest one that an entry can have for the question. */
export interface RankedAnswer<E> {
  readonly entry: E;
  readonly score: number;
}

const K1 = 1.2;
const B = 0.75;
/** A text of this length, in words, is neither short nor long. */
const USUAL_WORDS = 100;
const NEIGHBORS = 0.7;
const SURROUNDINGS = 2;
/** The distance up to which entries before and after an entry count, in entries of its path. */
export const REACH = 10;
const HALF_SURROUNDED = 3;
const CLOSENESS = 1;
/** Words that stand at most so far apart are close, in words. */
export const CLOSE = 10;

/** The sum of an entry that has each word without end, and whose surroundings have it too. */
const MOST = 1.35 * ((K1 + 1) * (1 + NEIGHBORS) + CLOSENESS) + SURROUNDINGS;

/** Text of a person weighs more than the output of a tool. */
function weightOf(role: MessageRole | null): number {
  if (role === "user") return 1.35;
  return role === "toolResult" || role === "bashExecution" ? 0.65 : 1;
}

/** The most entries that are ranked: those that are best by themselves. */
export const MOST_RANKED = 600;

/** The weights of words, from the number of entries that have each, of all. */
export function weightsOf(having: readonly number[], total: number): readonly number[] {
  return having.map((one) => weightOfWord(one, total));
}

/** The weight of a word that `having` of `total` entries have: larger for a rare one, never negative. */
function weightOfWord(having: number, total: number): number {
  return Math.log(1 + (Math.max(total, having) - having + 0.5) / (having + 0.5));
}

/** Groups entries by their rank without their lengths, best first. `counts`: of each word, in several parts, how often an entry has it. */
export function groupByThemselves<K>(
  counts: readonly (readonly ReadonlyMap<K, number>[])[],
  weights: readonly number[],
): readonly (readonly K[])[] {
  const scores = new Map<K, number>();
  for (const [term, found] of counts.entries()) {
    const weight = weights[term] ?? 0;
    for (const part of found) for (const [key, count] of part) scores.set(key, (scores.get(key) ?? 0) + (weight * count) / (count + K1));
  }
  return [...groupBy(scores.keys(), (key) => scores.get(key) ?? 0)].sort(([a], [b]) => b - a).map(([, group]) => group);
}

/** Takes the first entries of groups, at most `most`; of a group the newest. */
export function takeFirst<E extends Pick<AskedEntry, "session" | "seq" | "createdAtMs">>(
  groups: readonly (readonly E[])[],
  most: number,
): readonly E[] {
  const taken: E[] = [];
  for (const group of groups) {
    if (taken.length >= most) break;
    const isWhole = taken.length + group.length <= most;
    for (const entry of isWhole ? group : group.toSorted(byAge).slice(0, most - taken.length)) taken.push(entry);
  }
  return taken;
}

type Aged = Pick<AskedEntry, "session" | "seq" | "createdAtMs">;

/** Compares the newest first; in one session by number. */
function byAge(a: Aged, b: Aged): number {
  if (a.createdAtMs !== b.createdAtMs) return b.createdAtMs - a.createdAtMs;
  if (a.session === b.session) return b.seq - a.seq;
  return a.session < b.session ? 1 : -1;
}

/** The sessions whose title has words of a question: which of them. */
export function titlesWith(
  asked: readonly AskedTerm[],
  titles: Iterable<readonly [session: string, title: string]>,
): ReadonlyMap<string, readonly boolean[]> {
  const matchers = asked.map(({ term }) => createMatcher(term));
  const found = new Map<string, readonly boolean[]>();
  for (const [session, title] of titles) {
    const text = new FoldedText(title);
    const has = matchers.map((matcher) => {
      let isFound = false;
      matcher.visit(text, () => {
        isFound = true;
        return false;
      });
      return isFound;
    });
    if (has.includes(true)) found.set(session, has);
  }
  return found;
}

/** Entries that are ranked, and what their ranks depend on. */
export interface RankedEntries<E> {
  readonly entries: readonly E[];
  /** The weight of each word. */
  readonly weights: readonly number[];
  /** Of the sessions whose title has words of the question, which words. */
  readonly titles: ReadonlyMap<string, readonly boolean[]>;
  /** True if one entry is on the path of another one of its session, which is at most `REACH` below it. */
  readonly isAbove: (above: E, below: E) => boolean;
}

/** Ranks entries, best first; of equal ranks the newest first. Cost: proportional to the entries and to the words near each. */
export function rankAnswers<E extends AskedEntry>({ entries, weights, titles, isAbove }: RankedEntries<E>): readonly RankedAnswer<E>[] {
  const most = MOST * weights.reduce((sum, weight) => sum + weight, 0);
  const ranked: RankedAnswer<E>[] = [];
  for (const [session, group] of bySession(entries)) {
    const title = titles.get(session);
    const counted = group.map((entry) => ({ entry, counts: countWords(entry) }));
    for (const [at, { entry }] of counted.entries()) {
      const around = entriesAround(counted, at, isAbove);
      ranked.push({ entry, score: toShare(rankOf(entry, around, weights, title), most) });
    }
  }
  return ranked.sort((a, b) => b.score - a.score || byAge(a.entry, b.entry));
}

/** An entry, and the words of a question that it has. */
interface CountedEntry<E> {
  readonly entry: E;
  readonly counts: readonly WordCount[];
}

interface WordCount {
  readonly term: number;
  /** Higher in a shorter text. */
  readonly count: number;
}

/** Most entries have few of the words, and each is counted again around twenty others. */
function countWords({ places, words }: AskedEntry): readonly WordCount[] {
  const length = 1 - B + (B * words) / USUAL_WORDS;
  const counts: WordCount[] = [];
  for (let term = 0; term < places.length; term += 1) {
    const count = places[term]?.length ?? 0;
    if (count > 0) counts.push({ term, count: count / length });
  }
  return counts;
}

/** Entries by their session; of each session from its first entry down. */
function bySession<E extends AskedEntry>(entries: readonly E[]): ReadonlyMap<string, readonly E[]> {
  const sessions = groupBy(entries, ({ session }) => session);
  for (const group of sessions.values()) group.sort((a, b) => a.depth - b.depth || a.seq - b.seq);
  return sessions;
}

/** The entries with others of their session near above them: those whose paths `isAbove` has to know. */
export function listBelowOthers<E extends AskedEntry>(entries: readonly E[]): readonly E[] {
  return [...bySession(entries).values()].flatMap((group) => {
    let [above, depth] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
    return group.filter((entry) => {
      if (entry.depth > depth) [above, depth] = [depth, entry.depth];
      return entry.depth - above <= REACH;
    });
  });
}

/** The entries of a session that are at most `REACH` before or after one on its path, and itself. */
function entriesAround<E extends AskedEntry>(
  session: readonly CountedEntry<E>[],
  at: number,
  isAbove: RankedEntries<E>["isAbove"],
): readonly CountedEntry<E>[] {
  const center = session[at];
  if (center === undefined) return [];
  const { entry } = center;
  const around = [center];
  for (let index = at - 1; index >= 0; index -= 1) {
    const other = session[index];
    if (other === undefined || entry.depth - other.entry.depth > REACH) break;
    if (other.entry.depth < entry.depth && isAbove(other.entry, entry)) around.push(other);
  }
  for (let index = at + 1; index < session.length; index += 1) {
    const other = session[index];
    if (other === undefined || other.entry.depth - entry.depth > REACH) break;
    if (other.entry.depth > entry.depth && isAbove(entry, other.entry)) around.push(other);
  }
  return around;
}

/** Rounded, because sums of the same numbers in another order differ in their last digits. */
function toShare(rank: number, most: number): number {
  return most === 0 ? 0 : Math.round((rank / most) * 1e9) / 1e9;
}

function rankOf(
  entry: AskedEntry,
  around: readonly CountedEntry<AskedEntry>[],
  weights: readonly number[],
  title: readonly boolean[] | undefined,
): number {
  const [own, near, having] = [zeros(weights), zeros(weights), zeros(weights)];
  for (const [term, isInTitle] of (title ?? []).entries()) if (isInTitle) having[term] = 1;
  for (const { entry: other, counts } of around) {
    const isNear = Math.abs(other.depth - entry.depth) <= 1;
    for (const { term, count } of counts) {
      having[term] = (having[term] ?? 0) + 1;
      if (isNear) near[term] = (near[term] ?? 0) + count;
      if (other === entry) own[term] = count;
    }
  }
  const bm25 = (counts: readonly number[]) =>
    counts.reduce((sum, count, term) => sum + ((weights[term] ?? 0) * count * (K1 + 1)) / (count + K1), 0);
  const surrounded = having.reduce((sum, count, term) => sum + ((weights[term] ?? 0) * count) / (count + HALF_SURROUNDED), 0);
  const inside = bm25(own) + NEIGHBORS * bm25(near) + CLOSENESS * closeness(entry.places, weights);
  return weightOf(entry.role) * inside + SURROUNDINGS * surrounded;
}

function zeros(like: readonly number[]): number[] {
  return like.map(() => 0);
}

/** The largest sum of weights of different words that stand within ten words. */
function closeness(places: readonly (readonly number[])[], weights: readonly number[]): number {
  const all = places
    .flatMap((of, term) => of.filter((place) => place >= 0).map((place) => ({ place, term })))
    .sort((a, b) => a.place - b.place);
  const counts = zeros(weights);
  let [first, sum, best] = [0, 0, 0];
  for (const { place, term } of all) {
    const before = counts[term] ?? 0;
    counts[term] = before + 1;
    if (before === 0) sum += weights[term] ?? 0;
    for (let oldest = all[first]; oldest !== undefined && place - oldest.place > CLOSE; oldest = all[first]) {
      const left = (counts[oldest.term] ?? 0) - 1;
      counts[oldest.term] = left;
      if (left === 0) sum -= weights[oldest.term] ?? 0;
      first += 1;
    }
    best = Math.max(best, sum);
  }
  return best;
}
