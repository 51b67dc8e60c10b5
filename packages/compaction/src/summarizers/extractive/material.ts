import type { Fact } from "../../facts/fact.js";
import type { SummarySource } from "../summarizer.js";
import type { PartLimits } from "./limits.js";
import type { BlockName, Line } from "./outline.js";
import type { ReadExtract } from "./read-extract.js";
import type { Story } from "./story.js";

/** What the parts of an extract are made from. */
export interface Material {
  readonly story: Story;
  readonly facts: readonly Fact[];
  readonly kind: SummarySource["kind"];
  /** The extract that this one carries on; null: there is none, or a model wrote it. */
  readonly old: ReadExtract | null;
  /** Summaries that this one carries on or that stand among the messages, in order, those that are extracts and their goals left out. */
  readonly earlier: readonly string[];
  /** The goal as the first of them says it. */
  readonly goal: string | null;
  readonly limits: PartLimits;
}

/** The lines of a block of the extract before. */
export function oldLines({ old }: Material, name: BlockName): readonly string[] {
  return old?.get(name) ?? [];
}

/** A line on its way, and how many calls that changed or ran something stand behind it. */
export interface Weighted {
  readonly text: string;
  readonly work: number;
}

/**
 * Lines whose newest come last: the newest has the rank `first`, each older one `step` more. What much work stands behind
 * ages more slowly. A text stands once, where it is newest.
 */
export function newestFirst(given: readonly (string | Weighted)[], first: number, step: number): readonly Line[] {
  const lines = given.map((one) => (typeof one === "string" ? { text: one, work: 1 } : one));
  const newest = new Map(lines.map(({ text }, at) => [text, at]));
  const kept = lines.filter(({ text }, at) => newest.get(text) === at);
  return kept.map(({ text, work }, at) => ({
    text,
    rank: first + (step * (kept.length - 1 - at)) / (1 + Math.log2(Math.max(1, work))),
  }));
}

/** Lines in the order of their weight: the first has the rank `first`, each later one `step` more. */
export function firstFirst(texts: readonly string[], first: number, step: number): readonly Line[] {
  return [...new Set(texts)].map((text, at) => ({ text, rank: first + step * at }));
}
