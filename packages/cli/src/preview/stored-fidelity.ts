import { z } from "zod";
import { counted } from "../format/numbers.js";
import { describeFidelity } from "../session/compaction-text.js";

const STORED_FIDELITY = z.looseObject({
  score: z.number(),
  total: z.number().optional().catch(undefined),
  inSummary: z.record(z.string(), z.number()).optional().catch(undefined),
});

/** Describes the fidelity that a summary stores, which another program may have written in part; undefined: it is none. */
export function describeStoredFidelity(stored: unknown): string | undefined {
  const parsed = STORED_FIDELITY.safeParse(stored);
  if (!parsed.success) return undefined;
  const { score, total, inSummary } = parsed.data;
  if (total === undefined) return `${score.toFixed(2)} of 1`;
  if (inSummary === undefined) return `${counted(total, "fact")} (${score.toFixed(2)} by weight)`;
  return describeFidelity({ score, total, inSummary });
}
