import { type JsonObject, numberAt, objectAt, toOwnUsage } from "@bough/session-core/wire";

const COUNTS = [
  "input_tokens",
  "cached_input_tokens",
  "cache_write_input_tokens",
  "output_tokens",
  "reasoning_output_tokens",
  "total_tokens",
] as const;

type Counts = Readonly<Partial<Record<(typeof COUNTS)[number], number>>>;

/**
 * Reads `token_count` events, each of which has the sum of the session and the counts of the last request. The same event is often
 * written again, when only the limits of the account changed: it has the same sum, and counts once.
 */
export class UsageReader {
  #sum: Counts;
  /** The size of the context at the last request, in tokens. */
  #context: number | undefined;
  /** True if the file has a `token_usage_record` for each request: then the events repeat them. */
  #hasRecords: boolean;

  /** `state`: that of an earlier reading. */
  constructor(state: JsonObject = {}) {
    this.#sum = readCounts(objectAt(state, "sum") ?? {});
    this.#context = numberAt(state, "context");
    this.#hasRecords = state.hasRecords === true;
  }

  get contextTokens(): number | undefined {
    return this.#context;
  }

  get state(): JsonObject {
    return { sum: this.#sum, hasRecords: this.#hasRecords, ...(this.#context === undefined ? {} : { context: this.#context }) };
  }

  /** The usage in a `token_usage_record`. */
  readRecord(record: JsonObject): JsonObject | undefined {
    this.#hasRecords = true;
    return this.#toUsage(readCounts(objectAt(record, "usage") ?? {}));
  }

  /** The usage of the request before the event; undefined: the event reports no further request. */
  read(event: JsonObject): JsonObject | undefined {
    const info = objectAt(event, "info") ?? (event.info === undefined ? event : {});
    const last = objectAt(info, "last_token_usage");
    const sum = objectAt(info, "total_token_usage");
    // The first versions wrote the counts of the request without a sum.
    if (sum === undefined) return this.#toUsage(readCounts(last ?? info));
    const [before, now] = [this.#sum, readCounts(sum)];
    this.#sum = now;
    if (this.#hasRecords || COUNTS.every((name) => before[name] === now[name])) return undefined;
    return this.#toUsage(last === undefined ? difference(now, before) : readCounts(last));
  }

  #toUsage(counts: Counts): JsonObject | undefined {
    if (Object.values(counts).every((count) => count === 0)) return undefined;
    this.#context = counts.total_tokens ?? this.#context;
    return toOwnUsage(
      {
        input_tokens: counts.input_tokens,
        input_tokens_details: { cached_tokens: counts.cached_input_tokens, cache_write_tokens: counts.cache_write_input_tokens },
        output_tokens: counts.output_tokens,
        output_tokens_details: { reasoning_tokens: counts.reasoning_output_tokens },
        total_tokens: counts.total_tokens,
      },
      "usage",
    );
  }
}

function readCounts(usage: JsonObject): Counts {
  const counts = COUNTS.flatMap((name) => {
    const count = numberAt(usage, name);
    return count === undefined || count < 0 ? [] : [[name, count] as const];
  });
  return Object.fromEntries(counts);
}

function difference(now: Counts, before: Counts): Counts {
  return Object.fromEntries(
    COUNTS.flatMap((name) => {
      const count = now[name];
      return count === undefined ? [] : [[name, Math.max(0, count - (before[name] ?? 0))] as const];
    }),
  );
}
