import type { Scope } from "./model.js";

/** What stands beside the title. */
export type ColumnName = "directory" | "count" | "age" | "model" | "size";

/** One column beside the title. */
export interface PickerColumn {
  readonly name: ColumnName;
  readonly heading: string;
  readonly width: number;
  readonly align: "left" | "right";
}

/** Columns between two of them. */
export const GAP = 2;

/** Columns of the signs before a title: selected, current, and a blank. */
export const SIGNS = 3;

interface Candidate extends PickerColumn {
  /** It is left out where the title would be narrower than this. */
  readonly leaves: number;
}

const AGE: Candidate = { name: "age", heading: "age", width: 4, align: "right", leaves: 20 };
const COUNT: Candidate = { name: "count", heading: "msgs", width: 6, align: "right", leaves: 20 };
const DIRECTORY: Candidate = { name: "directory", heading: "directory", width: 20, align: "left", leaves: 24 };
const MODEL: Candidate = { name: "model", heading: "model", width: 18, align: "left", leaves: 30 };
const SIZE: Candidate = { name: "size", heading: "size", width: 8, align: "right", leaves: 28 };

/** The most important first: on a narrow screen the last ones are left out. */
const BY_IMPORTANCE: readonly Candidate[] = [AGE, COUNT, DIRECTORY, MODEL, SIZE];
const IN_PLACE: readonly ColumnName[] = ["directory", "count", "age", "model", "size"];

/** The columns that a list of this width has, and what is left for the title. Where all sessions are listed, directories are shown. */
export function columnsFor(width: number, scope: Scope): { readonly columns: readonly PickerColumn[]; readonly title: number } {
  let title = width - SIGNS;
  const chosen: Candidate[] = [];
  for (const candidate of BY_IMPORTANCE) {
    if (candidate.name === "directory" && scope === "here") continue;
    if (title - candidate.width - GAP < candidate.leaves) break;
    title -= candidate.width + GAP;
    chosen.push(candidate);
  }
  chosen.sort((a, b) => IN_PLACE.indexOf(a.name) - IN_PLACE.indexOf(b.name));
  return { columns: chosen, title: Math.max(title, 1) };
}
