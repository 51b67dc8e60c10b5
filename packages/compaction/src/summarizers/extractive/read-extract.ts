import { BLOCK_NAMES, type BlockName, LEFT_OUT, MARKER, shapeOf } from "./outline.js";
import { INLINE_BREAK } from "./render.js";
import { isUnderline, safeLine } from "./safe-line.js";

/** No line of an extract is longer. */
const LINE_CHARS = 1_000;

/** The lines of an extract by block, without marks. */
export type ReadExtract = ReadonlyMap<BlockName, readonly string[]>;

/**
 * Reads an extract back, so that the next one carries its lines on instead of quoting it; null: the text is none. Where
 * two stand in it, as after a split turn, it is the lines of both. Linear.
 */
export function readExtract(text: string): ReadExtract | null {
  if (!text.trimStart().startsWith(MARKER)) return null;
  const read = new Map<BlockName, string[]>();
  let candidates: readonly BlockName[] = [];
  let current: BlockName | null = null;
  for (const line of text.split("\n")) {
    const heading = /^##(#)? (.+)$/.exec(line);
    if (heading !== null) {
      const below = heading[1] === "#";
      candidates = BLOCK_NAMES.filter((name) => (below ? shapeOf(name).under : shapeOf(name).heading) === heading[2]);
      current = candidates.find((name) => shapeOf(name).lead === undefined) ?? null;
      continue;
    }
    const led: BlockName | undefined = candidates.find((name) => startsWithLead(name, line));
    if (led !== undefined) current = led;
    if (current === null) continue;
    const lines = read.get(current) ?? [];
    // It was stored and edited since, so nothing is taken on trust.
    lines.push(
      ...linesOf(current, line)
        .map((text) => safeLine(text, LINE_CHARS))
        .filter((text) => text !== ""),
    );
    read.set(current, lines);
  }
  return read;
}

function startsWithLead(name: BlockName, line: string): boolean {
  const { lead, style } = shapeOf(name);
  return lead !== undefined && (style === "inline" ? line.startsWith(`${lead} `) : line === lead);
}

function linesOf(name: BlockName, line: string): readonly string[] {
  const { style, lead } = shapeOf(name);
  if (line.trim() === "" || isUnderline(line) || line === lead || line.startsWith(MARKER)) return [];
  if (style === "inline") return itemsOf(line.slice((lead ?? "").length).trim());
  const text = line.replace(MARK[style], "");
  const isOurs = style === "plain" || text !== line;
  return isOurs && !LEFT_OUT.test(text) ? [text] : [];
}

const MARK = { quote: /^> /, list: /^- /, done: /^- \[x\] /, open: /^- \[ \] /, steps: /^\d+\. /, plain: /^/ } as const;

/** Items in backticks may have commas in them. */
function itemsOf(text: string): readonly string[] {
  return text.split(text.startsWith("`") ? /(?<=`), (?=`)/ : INLINE_BREAK);
}
