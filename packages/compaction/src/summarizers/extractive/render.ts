import { BLOCK_NAMES, type BlockName, type BlockShape, LEFT_OUT, type LineStyle, shapeOf } from "./outline.js";

const MARKS: Readonly<Record<LineStyle, string>> = {
  quote: "> ",
  list: "- ",
  done: "- [x] ",
  open: "- [ ] ",
  steps: "1. ",
  inline: "",
  plain: "",
};
/** Between the lines of an inline block. */
export const INLINE_BREAK = ", ";

/** Characters that a line takes on the page, its break included. */
export function lineCost(name: BlockName, text: string): number {
  return shapeOf(name).style === "inline" ? text.length + INLINE_BREAK.length : MARKS[shapeOf(name).style].length + text.length + 1;
}

/** Characters that a block's heading and lead take at most. */
export function frameCost({ heading, under, lead }: BlockShape): number {
  const below = under === undefined ? "" : `### ${under}\n\n`;
  return `\n\n## ${heading}\n\n${below}${lead ?? ""}\n`.length;
}

/** An extract as Markdown: under each heading its blocks, those without lines left out. */
export function render(first: string, lines: ReadonlyMap<BlockName, readonly string[]>): string {
  const pieces = [first];
  let heading = "";
  for (const name of BLOCK_NAMES) {
    const shown = lines.get(name) ?? [];
    if (shown.length === 0) continue;
    const shape = shapeOf(name);
    if (shape.heading !== heading) pieces.push(`## ${shape.heading}`);
    heading = shape.heading;
    if (shape.under !== undefined) pieces.push(`### ${shape.under}`);
    pieces.push(renderBlock(shape, shown));
  }
  return pieces.join("\n\n");
}

function renderBlock({ style, lead }: BlockShape, lines: readonly string[]): string {
  if (style === "inline") return `${lead ?? ""} ${lines.join(INLINE_BREAK)}`.trim();
  const body = lines.map((line, at) => marked(style, line, at));
  return [...(lead === undefined ? [] : [lead]), ...body].join("\n");
}

function marked(style: LineStyle, line: string, at: number): string {
  if (LEFT_OUT.test(line)) return MARKS.list + line;
  return style === "steps" ? `${at + 1}. ${line}` : MARKS[style] + line;
}
