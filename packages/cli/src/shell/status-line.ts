import { counted, dollars } from "../format/numbers.js";
import { barText, type Glyphs } from "../terminal/glyphs.js";
import { fitLine, type Line, lineWidth, type Span, styled } from "../terminal/line.js";
import type { Status } from "./model.js";

const BAR = 8;
const LEAST_TITLE = 12;

/** One line about the session; what matters least leaves first where there is no room. */
export function statusLine(status: Status, columns: number, glyphs: Glyphs): Line {
  const { title, depth, branches, model, costUsd, background } = status;
  // In order of weight: the last ones leave first.
  const parts: readonly (string | Span)[] = [
    model ?? "notebook: no model answers",
    ...windowPart(status, glyphs),
    ...(background ? [styled("summary", "compacting")] : []),
    `${counted(depth, "entry", "entries")}${branches > 1 ? `, ${counted(branches, "branch", "branches")}` : ""}`,
    ...(costUsd === null ? [] : [dollars(costUsd)]),
  ];
  for (let count = parts.length; count > 0; count -= 1) {
    const right: Line = parts
      .slice(0, count)
      .flatMap((part) => [styled("dim", ` ${glyphs.dot} `), typeof part === "string" ? styled("dim", part) : part]);
    const room = columns - lineWidth(right);
    if (room >= Math.min(LEAST_TITLE, title.length)) return [...fitLine([styled("bold", title)], room, glyphs.ellipsis), ...right];
  }
  return fitLine([styled("bold", title)], columns, glyphs.ellipsis);
}

function windowPart({ usedTokens, windowTokens }: Status, glyphs: Glyphs): readonly (string | Span)[] {
  if (usedTokens === null) return [];
  return [windowBar(usedTokens, windowTokens, BAR, glyphs)];
}

/** How full a window is: a bar of `columns` columns and the share in words. Red above 90 %. */
export function windowBar(usedTokens: number, windowTokens: number, columns: number, glyphs: Glyphs): Span {
  const share = Math.min(usedTokens / windowTokens, 1);
  const bar = barText(share, columns, glyphs);
  return styled(share > 0.9 ? "error" : "dim", `${bar} ${(share * 100).toFixed(0)}% of ${short(windowTokens)}`);
}

function short(tokens: number): string {
  return tokens < 1000 ? String(tokens) : tokens < 1e6 ? `${Math.round(tokens / 1000)}k` : `${(tokens / 1e6).toFixed(1)}M`;
}
