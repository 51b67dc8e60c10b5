import type { MessageRole } from "../../entry/message.js";
import type { AskedTerm } from "./question.js";
import { createMatcher, FoldedText } from "./term-matcher.js";

// The rank of an entry for a question is the sum of three scores and a bonus. Each score is a sum over the words of the question, in which a rare
// word weighs more, and a word that occurs often or in a short text more than one that occurs once in a long one (BM25):
//
// - the entry itself;
// - the entry with the one before and after it, since an answer often has no word of the question that it answers;
// - the ten entries before and after, and the title of the session: what the conversation is about;
// - words that stand close together in the entry.
//
// The scores depend on no average of the store, so they are the same in both engines, and for entries that are not indexed yet.

/** An entry that has words of a question. */
export interface AskedEntry {
  /** Identifies the session. */
  readonly session: number | string;
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
/** In entries. */
const REACH = 10;
const HALF_SURROUNDED = 3;
const CLOSENESS = 1;
/** In words. */
const CLOSE = 10;

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

/** Lists entries by their own rank without their lengths, the best first; of equal ones the largest key. `places`: of each word, by the key of the entry. */
export function bestByThemselves(places: readonly ReadonlyMap<number, readonly number[]>[], weights: readonly number[]): readonly number[] {
  const scores = new Map<number, number>();
  for (const [term, found] of places.entries()) {
    const weight = weights[term] ?? 0;
    for (const [key, { length }] of found) scores.set(key, (scores.get(key) ?? 0) + (weight * length) / (length + K1));
  }
  const keys = [...scores.keys()];
  if (keys.length <= MOST_RANKED) return keys;
  return keys.sort((a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0) || b - a);
}

/** The sessions whose title has words of a question: which of them. */
export function titlesWith<S>(
  asked: readonly AskedTerm[],
  titles: Iterable<readonly [session: S, title: string]>,
): ReadonlyMap<S, readonly boolean[]> {
  const matchers = asked.map(({ term }) => createMatcher(term));
  const found = new Map<S, readonly boolean[]>();
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

/**
 * Ranks entries, best first; of equal ranks the newest first. `titles`: of the sessions whose title has words of the question, which words.
 * Cost: proportional to the entries and to the words near each.
 */
export function rankAnswers<E extends AskedEntry>(
  entries: readonly E[],
  weights: readonly number[],
  titles: ReadonlyMap<number | string, readonly boolean[]>,
): readonly RankedAnswer<E>[] {
  const most = MOST * weights.reduce((sum, weight) => sum + weight, 0);
  const sessions = new Map<number | string, E[]>();
  for (const entry of entries) {
    const group = sessions.get(entry.session);
    if (group === undefined) sessions.set(entry.session, [entry]);
    else group.push(entry);
  }
  const ranked: RankedAnswer<E>[] = [];
  for (const [session, group] of sessions) {
    group.sort((a, b) => a.depth - b.depth || a.createdAtMs - b.createdAtMs);
    const title = titles.get(session);
    for (const [at, entry] of group.entries()) ranked.push({ entry, score: toShare(rankOf(group, at, weights, title), most) });
  }
  return ranked.sort((a, b) => b.score - a.score || b.entry.createdAtMs - a.entry.createdAtMs);
}

/** Rounded, because sums of the same numbers in another order differ in their last digits. */
function toShare(rank: number, most: number): number {
  return most === 0 ? 0 : Math.round((rank / most) * 1e9) / 1e9;
}

function rankOf(session: readonly AskedEntry[], at: number, weights: readonly number[], title: readonly boolean[] | undefined): number {
  const entry = session[at];
  if (entry === undefined) return 0;
  const [own, near, around] = [zeros(weights), zeros(weights), zeros(weights)];
  for (const [term, isInTitle] of (title ?? []).entries()) if (isInTitle) around[term] = 1;
  const visit = (other: AskedEntry): boolean => {
    const distance = Math.abs(other.depth - entry.depth);
    if (distance > REACH) return false;
    const length = 1 - B + (B * other.words) / USUAL_WORDS;
    for (const [term, places] of other.places.entries()) {
      if (places.length === 0) continue;
      around[term] = (around[term] ?? 0) + 1;
      if (distance <= 1) near[term] = (near[term] ?? 0) + places.length / length;
      if (other === entry) own[term] = places.length / length;
    }
    return true;
  };
  for (let index = at; index >= 0 && visitAt(session, index, visit); index -= 1);
  for (let index = at + 1; index < session.length && visitAt(session, index, visit); index += 1);
  const bm25 = (counts: readonly number[]) =>
    counts.reduce((sum, count, term) => sum + ((weights[term] ?? 0) * count * (K1 + 1)) / (count + K1), 0);
  const surrounded = around.reduce((sum, count, term) => sum + ((weights[term] ?? 0) * count) / (count + HALF_SURROUNDED), 0);
  const inside = bm25(own) + NEIGHBORS * bm25(near) + CLOSENESS * closeness(entry.places, weights);
  return weightOf(entry.role) * inside + SURROUNDINGS * surrounded;
}

function zeros(like: readonly number[]): number[] {
  return like.map(() => 0);
}

function visitAt(session: readonly AskedEntry[], index: number, visit: (other: AskedEntry) => boolean): boolean {
  const other = session[index];
  return other !== undefined && visit(other);
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
