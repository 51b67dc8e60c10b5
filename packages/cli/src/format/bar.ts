import type { Glyphs } from "../terminal/glyphs.js";

/** A share of something as a bar of `columns`; more than all of it fills the bar, and anything at all shows. */
export function barText(share: number, columns: number, { full, empty }: Pick<Glyphs, "full" | "empty">): string {
  const filled = Math.min(share > 0 ? Math.max(Math.round(share * columns), 1) : 0, columns);
  return full.repeat(filled) + empty.repeat(columns - filled);
}
