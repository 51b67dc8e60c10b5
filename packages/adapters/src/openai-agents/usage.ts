import type { EntryInput } from "@bough/session-core";
import type { RunContext } from "@openai/agents-core";

/** Distributes the usage that a run counts over the entries of its replies. */
export class UsageReader {
  readonly #counted = new WeakMap<RunContext, Totals>();

  /**
   * Returns the entries, the last reply among them with the usage of all requests of the run since the last call. Without a reply, or
   * without a run, they stay as they are.
   */
  attach(entries: readonly EntryInput[], runContext: RunContext | undefined): readonly EntryInput[] {
    if (runContext === undefined) return entries;
    const at = entries.findLastIndex((entry) => entry.type === "message" && entry.message.role === "assistant");
    const entry = entries[at];
    if (entry?.type !== "message" || entry.message.role !== "assistant") return entries;
    const now = totalsOf(runContext);
    const before = this.#counted.get(runContext) ?? NOTHING;
    if (now.input === before.input && now.output === before.output) return entries;
    this.#counted.set(runContext, now);
    const cacheRead = now.cacheRead - before.cacheRead;
    const usage = { input: now.input - before.input - cacheRead, output: now.output - before.output, cacheRead };
    return entries.with(at, { ...entry, message: { ...entry.message, usage } });
  }
}

/** Tokens of a run so far. `input` includes `cacheRead`, as OpenAI counts. */
interface Totals {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
}

const NOTHING: Totals = { input: 0, output: 0, cacheRead: 0 };

function totalsOf({ usage }: RunContext): Totals {
  const cached = usage.inputTokensDetails.reduce((sum, { cached_tokens, cachedTokens }) => sum + (cached_tokens ?? cachedTokens ?? 0), 0);
  return { input: usage.inputTokens, output: usage.outputTokens, cacheRead: cached };
}
