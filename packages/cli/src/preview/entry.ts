import type { Entry } from "@bough/session-core";
import { entryLines } from "../format/entry-lines.js";
import { wrapLine } from "../format/wrap.js";
import type { Line } from "../terminal/line.js";
export function previewLines({ entry }: { readonly entry: Entry }, width: number): readonly Line[] {
  return entryLines(entry).flatMap((line) => wrapLine(line, width));
}
