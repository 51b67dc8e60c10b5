import { z } from "zod";
import type { SummaryEntry } from "./summarised.js";

// What the engine writes beside a summary; other programs and hooks may write anything under these names.
const worthSchema = z.object({
  method: z.enum(["normal", "strict", "extract", "marker", "hook"]).optional().catch(undefined),
  fidelity: z
    .object({ score: z.number(), total: z.number(), byRecallOnly: z.array(z.object({ kind: z.string(), text: z.string() })) })
    .optional()
    .catch(undefined),
});

const MADE_BY = {
  normal: "a model",
  strict: "a model, asked more strictly",
  extract: "an extract, without a model",
  marker: "nobody: a model failed, and this marks the place",
  hook: "a hook of the host",
} as const;

/** Who wrote a summary, in words. */
export function madeBy(summary: SummaryEntry): string {
  const { method } = worthSchema.parse(summary);
  if (method !== undefined) return MADE_BY[method];
  return summary.fromHook === true ? MADE_BY.hook : "another program";
}

/** How many of the facts of its source a summary holds, and some of those that only recall gives; empty: not known. */
export function fidelityLine(summary: SummaryEntry): string {
  const { fidelity } = worthSchema.parse(summary);
  if (fidelity === undefined || fidelity.total === 0) return "";
  const missing = fidelity.byRecallOnly.map(({ kind, text }) => `${kind} ${JSON.stringify(text)}`);
  const share = `fidelity: ${Math.round(fidelity.score * 100)} % of ${fidelity.total} facts found in the entries are in the summary`;
  return missing.length === 0 ? share : `${share}; only in the entries: ${missing.join(", ")}`;
}
