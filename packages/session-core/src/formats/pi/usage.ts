import { isObject, type JsonObject, without } from "../../source/narrow.js";

const COUNTS = ["input", "output", "cacheRead", "cacheWrite", "totalTokens"];

/**
 * `owner` with a `usage` that can be added up. Figures that are no count (null where a provider's number was NaN, a
 * negative cost) would make the whole message unreadable, so they move to `usage.unusable`.
 */
export function withUsage(owner: JsonObject): JsonObject {
  const { usage } = owner;
  if (usage === undefined) return owner;
  return isObject(usage) ? { ...owner, usage: usableUsage(usage) } : without(owner, ["usage"]);
}

function usableUsage(usage: JsonObject): JsonObject {
  const unusable = COUNTS.filter((key) => usage[key] !== undefined && !isCount(usage[key]));
  if (usage.cost !== undefined && !isCost(usage.cost)) unusable.push("cost");
  if (unusable.length === 0) return usage;
  return { ...without(usage, unusable), unusable: Object.fromEntries(unusable.map((key) => [key, usage[key]])) };
}

function isCost(cost: unknown): boolean {
  return isObject(cost) && (cost.total === undefined || isCount(cost.total));
}

function isCount(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
