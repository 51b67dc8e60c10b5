import { type JsonObject, numberAt, without } from "../../source/narrow.js";

const FIGURES = [
  ["input", "input_tokens"],
  ["output", "output_tokens"],
  ["cacheRead", "cache_read_input_tokens"],
  ["cacheWrite", "cache_creation_input_tokens"],
] as const;

const OUR_NAMES = ["input", "output", "cacheRead", "cacheWrite", "totalTokens", "cost"];

/**
 * What one reply used. Each of its lines repeats the usage of the whole reply, the early ones with a partial count, so
 * the largest of each figure is taken and nothing is added up. Fields that we do not know are those of the last line.
 *
 * `costs` are US dollars; only versions before 1.0 wrote them, with each line of its own.
 */
export function usageOf(usages: readonly JsonObject[], costs: readonly number[]): JsonObject | undefined {
  const last = usages.at(-1);
  if (last === undefined) return undefined;
  const figures = FIGURES.flatMap(([ours, theirs]) => {
    const found = usages.flatMap((usage) => numberAt(usage, theirs) ?? []).filter((figure) => figure >= 0);
    return found.length === 0 ? [] : [[ours, Math.max(...found)] as const];
  });
  const rest = without(last, [...OUR_NAMES, ...FIGURES.map(([, theirs]) => theirs)]);
  const cost = costs.length === 0 ? {} : { cost: { total: Math.max(...costs) } };
  return { ...Object.fromEntries(figures), ...cost, ...rest };
}
