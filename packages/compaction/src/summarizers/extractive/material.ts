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

/** Lines whose newest come last: the newest has the rank `first`, each older one `step` more. A text stands once, where it is newest. */
export function newestFirst(texts: readonly string[], first: number, step: number): readonly Line[] {
  const newest = new Map(texts.map((text, at) => [text, at]));
  const kept = texts.filter((text, at) => newest.get(text) === at);
  return kept.map((text, at) => ({ text, rank: first + step * (kept.length - 1 - at) }));
}

/** Lines in the order of their weight: the first has the rank `first`, each later one `step` more. */
export function firstFirst(texts: readonly string[], first: number, step: number): readonly Line[] {
  return [...new Set(texts)].map((text, at) => ({ text, rank: first + step * at }));
}
