import { takeEnd, takeStart } from "./one-line.js";

/** Options for fitting a text into a width. */
export interface Fit {
  /** The width of a text, in any unit: UTF-16 code units (default), or columns of a terminal. */
  readonly widthOf: (text: string) => number;
  /** The mark that replaces a cut part; default "…". */
  readonly ellipsis: string;
}

export const PLAIN_FIT: Fit = { widthOf: (text) => text.length, ellipsis: "…" };

/**
 * A path of at most `maxWidth`: its first part, "…" and as many of its last parts as fit. If its name alone is too long, the end of
 * the name.
 *
 * @example
 * shortenPath("packages/coding-agent/src/theme/theme.ts", 24); // "packages/…/theme.ts"
 */
export function shortenPath(path: string, maxWidth: number, fit: Fit = PLAIN_FIT): string {
  if (fit.widthOf(path) <= maxWidth) return path;
  const separator = path.includes("/") ? "/" : "\\";
  const parts = path.split(separator);
  const first = parts[0] === "" ? `${separator}${parts[1] ?? ""}` : (parts[0] ?? "");
  const from = parts[0] === "" ? 2 : 1;
  return (
    withTail(`${first}${separator}${fit.ellipsis}${separator}`, parts.slice(from + 1), separator, maxWidth, fit) ??
    withTail(`${fit.ellipsis}${separator}`, parts.slice(from), separator, maxWidth, fit) ??
    endOf(parts.at(-1) ?? path, maxWidth, fit)
  );
}

/** `start` and as many of the last parts as fit; undefined: not even the last one does. */
function withTail(start: string, parts: readonly string[], separator: string, maxWidth: number, fit: Fit): string | undefined {
  let tail = parts.at(-1);
  if (tail === undefined || fit.widthOf(start + tail) > maxWidth) return undefined;
  for (let at = parts.length - 2; at >= 0; at -= 1) {
    const longer: string = `${parts[at]}${separator}${tail}`;
    if (fit.widthOf(start + longer) > maxWidth) break;
    tail = longer;
  }
  return start + tail;
}

function endOf(text: string, maxWidth: number, fit: Fit): string {
  const room = maxWidth - fit.widthOf(fit.ellipsis);
  if (room < 0) return "";
  let end = takeEnd(text, room);
  while (end !== "" && fit.widthOf(end) > room) end = takeEnd(end, end.length - 1);
  return fit.ellipsis + end;
}

/** Texts that may be paths. Linear: one begins only behind a character that none has. */
const PATH = /(?<![^\s"'`=:,;|&()<>])[^\s"'`=:,;|&()<>]*[\\/][^\s"'`=,;|&()<>]*/g;
/** A path in a longer text keeps at least this width. */
const MIN_PATH = 20;

/**
 * The detail of a tool call in at most `maxWidth`: its paths are cut in the middle first, then the end of the text is.
 *
 * @example
 * shortenDetail("git diff packages/coding-agent/src/theme/theme.ts", 40); // "git diff packages/…/src/theme/theme.ts"
 */
export function shortenDetail(detail: string, maxWidth: number, fit: Fit = PLAIN_FIT): string {
  const width = fit.widthOf(detail);
  if (width <= maxWidth) return detail;
  if (!/\s/.test(detail) && /[\\/]/.test(detail)) return shortenPath(detail, maxWidth, fit);
  let excess = width - maxWidth;
  const short = detail.replace(PATH, (path) => {
    const shorter = excess > 0 ? shortenPath(path, Math.max(MIN_PATH, fit.widthOf(path) - excess), fit) : path;
    excess -= fit.widthOf(path) - fit.widthOf(shorter);
    return shorter;
  });
  return excess <= 0 ? short : shortenStart(short, maxWidth, fit);
}

/** A text of at most `maxWidth`; a longer one ends in the ellipsis. */
export function shortenStart(text: string, maxWidth: number, fit: Fit): string {
  if (text.length <= maxWidth * 2 && fit.widthOf(text) <= maxWidth) return text;
  const room = maxWidth - fit.widthOf(fit.ellipsis);
  if (room < 0) return "";
  let start = takeStart(text, room);
  while (start !== "" && fit.widthOf(start) > room) start = takeStart(start, start.length - 1);
  return start.trimEnd() + fit.ellipsis;
}
