import { toEntryKind } from "../entry/kinds.js";
import { isRecorded, type ReplyUsage } from "../entry/reply-usage.js";
import { betterTitle } from "../entry/typed-text.js";
import type { EntryFacts } from "../port/entry-facts.js";

/** The increments of a session's counts by new entries. */
export interface AddedCounts {
  readonly entries: number;
  readonly messages: number;
  readonly bytes: number;
  /** The time of the newest message; 0: there is none. */
  readonly activeAt: number;
  /** The best title among the first entries of a path; null: none that is new. */
  readonly firstText: string | null;
  /** The first text that was typed further down; a title if there is no other. */
  readonly laterText: string | null;
}

/** The increments of a model's usage by new entries. */
export interface AddedUsage {
  provider: string;
  model: string;
  replies: number;
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  cost_usd: number;
  recorded_replies: number;
}

/** The increments of a session's totals by new entries. */
export interface AddedTotals {
  readonly counts: AddedCounts;
  /** The number of new entries by kind. */
  readonly kinds: ReadonlyMap<number, number>;
  /** One for each model. */
  readonly usage: readonly AddedUsage[];
}

/** The depth from which a text does not replace the first text, which is shown for a missing title. So most appends read no title. */
const TITLE_DEPTH = 64;

const NOTHING: AddedCounts = { entries: 0, messages: 0, bytes: 0, activeAt: 0, firstText: null, laterText: null };

/** Collects the increments of a session's totals by new entries: counts, also by kind, size, last activity and token usage. */
export class EntryTotals {
  #counts: { -readonly [K in keyof AddedCounts]: AddedCounts[K] } = { ...NOTHING };
  #kinds = new Map<number, number>();
  #usage = new UsageSums();

  /** `depth`: the number of entries above it. */
  add({ kind, preview, payloadBytes, usage, isTyped }: EntryFacts, createdAtMs: number, depth: number): void {
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
    const { role } = toEntryKind(kind);
    const counts = this.#counts;
    counts.entries += 1;
    counts.bytes += payloadBytes;
    if (role === "user" || role === "assistant") {
      counts.messages += 1;
      // Only conversation counts as activity, so that labels and settings do not reorder lists.
      counts.activeAt = Math.max(counts.activeAt, createdAtMs);
    }
    if (isTyped) {
      if (depth < TITLE_DEPTH) counts.firstText = betterTitle(counts.firstText, preview);
      else counts.laterText ??= preview === "" ? null : preview;
    }
    if (usage !== undefined) this.#usage.add(usage);
  }

  /** Returns the collected totals, and resets them to zero. */
  take(): AddedTotals {
    const taken = { counts: this.#counts, kinds: this.#kinds, usage: this.#usage.list() };
    this.#counts = { ...NOTHING };
    this.#kinds = new Map();
    this.#usage = new UsageSums();
    return taken;
  }
}

/** Sums of usage, one for each model. */
export class UsageSums {
  readonly #sums = new Map<string, AddedUsage>();

  add(used: ReplyUsage): void {
    const added = addedUsage(used);
    const key = `${added.provider}\n${added.model}`;
    const sum = this.#sums.get(key);
    if (sum === undefined) this.#sums.set(key, added);
    else addToUsage(sum, added);
  }

  list(): readonly AddedUsage[] {
    return [...this.#sums.values()];
  }
}

function addToUsage(sum: AddedUsage, added: AddedUsage): void {
  sum.replies += added.replies;
  sum.input_tokens += added.input_tokens;
  sum.output_tokens += added.output_tokens;
  sum.cache_read_tokens += added.cache_read_tokens;
  sum.cache_write_tokens += added.cache_write_tokens;
  sum.cost_usd += added.cost_usd;
  sum.recorded_replies += added.recorded_replies;
}

/** More of it is counted as so much: no sum of replies reaches the largest number, which a server refuses to exceed. */
const MOST_OF_A_REPLY = 1e300;

function addedUsage({ usage, provider, model, replies }: ReplyUsage): AddedUsage {
  return {
    provider,
    model,
    replies,
    input_tokens: Math.min(usage.input ?? 0, MOST_OF_A_REPLY),
    output_tokens: Math.min(usage.output ?? 0, MOST_OF_A_REPLY),
    cache_read_tokens: Math.min(usage.cacheRead ?? 0, MOST_OF_A_REPLY),
    cache_write_tokens: Math.min(usage.cacheWrite ?? 0, MOST_OF_A_REPLY),
    cost_usd: Math.min(usage.cost?.total ?? 0, MOST_OF_A_REPLY),
    recorded_replies: isRecorded(usage) ? replies : 0,
  };
}

/** Returns the text to store as the first text: the better one of the stored and the new text; null: none is new. */
export function chooseFirstText({ firstText }: AddedCounts, stored: () => string | null): string | null {
  return firstText === null ? null : betterTitle(stored(), firstText);
}

/** The counts of kinds as counts of types, in the order of their names. */
export function sumTypes(kinds: readonly { readonly kind: number; readonly count: number }[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { kind, count } of kinds) {
    const { type } = toEntryKind(kind);
    counts.set(type, (counts.get(type) ?? 0) + count);
  }
  return Object.fromEntries([...counts].sort(([one], [other]) => (one < other ? -1 : 1)));
}
