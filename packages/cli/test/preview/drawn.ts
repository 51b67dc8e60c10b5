import { type Line, lineWidth, textOfLine } from "../../src/terminal/line.js";

/** Lines as they are seen, one below the other, after making sure that each of them fits. */
export function drawn(lines: readonly Line[], width: number): string {
  const wide = lines.find((line) => lineWidth(line) > width);
  if (wide !== undefined) throw new TypeError(`wider than ${width}: ${textOfLine(wide)}`);
  return `\n${lines.map((line) => textOfLine(line).trimEnd()).join("\n")}\n`;
}

/** The pieces of lines that have one of these styles. */
export function inStyle(lines: readonly Line[], style: string): readonly string[] {
  return lines.flatMap((line) => line.flatMap((piece) => (typeof piece !== "string" && piece.style === style ? [piece.text] : [])));
}
