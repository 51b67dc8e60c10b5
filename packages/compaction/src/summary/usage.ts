import type { Usage } from "@bough/session-core";

const COUNTS = ["input", "output", "cacheRead", "cacheWrite", "totalTokens"] as const;

/** Two usages as one. A figure that neither tells is not told; cost in US dollars. */
export function addUsage(a: Usage | undefined, b: Usage | undefined): Usage | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const sum: Usage = {};
  for (const key of COUNTS) {
    if (a[key] !== undefined || b[key] !== undefined) sum[key] = (a[key] ?? 0) + (b[key] ?? 0);
  }
  if (a.cost?.total !== undefined || b.cost?.total !== undefined) sum.cost = { total: (a.cost?.total ?? 0) + (b.cost?.total ?? 0) };
  return sum;
}
