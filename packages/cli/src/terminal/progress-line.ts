import { truncate } from "./width.js";

/** A terminal to draw one line on. */
export interface LineStream {
  write(text: string): unknown;
  /** A terminal without a size reports 0 columns. */
  readonly columns?: number | undefined;
}

/** Draws a safe text over the line of the cursor, one column less than the width, so that the cursor stays on the line. */
export function drawOver(stream: LineStream, text: string): void {
  stream.write(`\r${truncate(text, Math.max((stream.columns || 80) - 1, 1), "")}\u001b[K`);
}

/** Erases the line of the cursor. */
export function eraseLine(stream: LineStream): void {
  stream.write("\r\u001b[K");
}
