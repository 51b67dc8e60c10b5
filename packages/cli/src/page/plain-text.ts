import type { SearchHit } from "@bough/session-core";

type Range = readonly [start: number, end: number];

/** Headings, bold text, fences and code; the groups are what is kept. A heading follows white space, or the mark of a cut. */
const MARKS = [/(?<=^…?|[^\S\n])#{1,6} (?=\S)/g, /\*\*(?! )([^*\n]{1,200})(?<! )\*\*/g, /`{3,}[\w+#.-]*/g, /(?<!`)`([^`\n]{1,200})`(?!`)/g];

/** A text of one line without the marks of Markdown for headings, bold text and code: these are not rendered there. */
export function withoutMarks(text: string): string {
  return cut(text, rangesOfMarks(text));
}

/** The snippet of a hit in a text without these marks, and its matches; what a tool or a command printed stays as it is. */
export function plainHit({ snippet, matches, role }: SearchHit): Pick<SearchHit, "snippet" | "matches"> {
  if (role === "toolResult" || role === "bashExecution") return { snippet, matches };
  const marks = rangesOfMarks(snippet);
  const moved = matches.map(([start, end]) => [placeWithout(marks, start), placeWithout(marks, end)] as const);
  return { snippet: cut(snippet, marks), matches: moved.filter(([start, end]) => start < end) };
}

/** Where the marks are, in order. */
function rangesOfMarks(text: string): readonly Range[] {
  const ranges: Range[] = [];
  for (const pattern of MARKS)
    for (const { 0: found, 1: kept, index } of text.matchAll(pattern)) {
      const end = index + found.length;
      if (kept === undefined) ranges.push([index, end]);
      else ranges.push([index, index + (found.length - kept.length) / 2], [end - (found.length - kept.length) / 2, end]);
    }
  return ranges.sort(([a], [b]) => a - b);
}

function cut(text: string, ranges: readonly Range[]): string {
  let kept = "";
  let done = 0;
  for (const [start, end] of ranges) {
    kept += text.slice(done, start);
    done = Math.max(done, end);
  }
  return kept + text.slice(done);
}

/** A place in a text after ranges of it were cut out. */
function placeWithout(ranges: readonly Range[], place: number): number {
  let moved = place;
  for (const [start, end] of ranges) moved -= Math.max(0, Math.min(end, place) - start);
  return moved;
}
