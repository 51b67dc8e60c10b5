import type { Line } from "../terminal/line.js";

/** One line of a screen. It must fit the width already: nothing is wrapped or cut after this. */
export interface FrameLine {
  readonly line: Line;
  /** Drawn inverted over the whole width. A sign in the text must say it too, for terminals without colours. */
  readonly isSelected?: boolean | undefined;
}

/** What a screen shows. A full screen has exactly as many lines as its size has rows; a shorter one is padded below. */
export interface Frame {
  readonly lines: readonly FrameLine[];
  /** Where the cursor stands, counted from 0, for input methods too (regression R189); undefined: hidden. */
  readonly cursor?: { readonly row: number; readonly column: number } | undefined;
}

/** A line that is not selected. */
export function plainLine(...line: Line): FrameLine {
  return { line };
}
