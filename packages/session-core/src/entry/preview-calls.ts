import { type Fit, PLAIN_FIT, shortenDetail, shortenStart } from "../text/shorten-path.js";
import type { CallDescription } from "../tools/describe-call.js";
import { classifyTool } from "../tools/known-tools.js";

/** A preview in its parts. */
export interface PreviewParts {
  readonly text: string;
  /** The tool calls after the text. A call that the preview only counts has an empty detail. */
  readonly calls: readonly CallDescription[];
}

/** The share of a line that the calls get if the text before them is long. */
const CALLS_SHARE = 0.6;
/** A detail is not cut below this width; instead the last calls are counted. */
const MIN_DETAIL = 20;

/** A text and calls on one line of at most `maxWidth`, each call with as much of its detail as fits. */
export function shareLine(text: string, calls: readonly CallDescription[], maxWidth: number, fit: Fit = PLAIN_FIT): string {
  if (calls.length === 0) return shortenStart(text, maxWidth, fit);
  const left = maxWidth - (text === "" ? 0 : fit.widthOf(text) + 1);
  const shown = joinCalls(calls, Math.max(left, text === "" ? maxWidth : Math.floor(maxWidth * CALLS_SHARE)), fit);
  return `${shortenStart(text, maxWidth - fit.widthOf(shown) - 1, fit)} ${shown}`.trimStart();
}

function joinCalls(calls: readonly CallDescription[], maxWidth: number, fit: Fit): string {
  const whole = calls.map(({ name, detail }) => bracket(name, detail)).join(" ");
  if (fit.widthOf(whole) <= maxWidth) return whole;
  // A call has four columns beside its name and its detail.
  let count = Math.min(calls.length, Math.ceil(maxWidth / 4) + 1);
  while (count > 1 && leastWidth(calls, count, fit) > maxWidth) count -= 1;
  const shown = calls.slice(0, count);
  const rest = countCalls(calls.slice(count));
  const taken = shown.reduce((sum, { name }) => sum + fit.widthOf(name) + 4, fit.widthOf(rest) - 1);
  const widths = shareWidth(
    shown.map(({ detail }) => fit.widthOf(detail)),
    Math.max(0, maxWidth - taken),
  );
  const texts = shown.map(({ name, detail }, at) => bracket(name, shortenDetail(detail, widths[at] ?? 0, fit)));
  return shortenStart(texts.join(" ") + rest, maxWidth, fit);
}

function bracket(name: string, detail: string): string {
  return detail === "" ? `[${name}]` : `[${name} ${detail}]`;
}

function leastWidth(calls: readonly CallDescription[], count: number, fit: Fit): number {
  const shown = calls.slice(0, count).map(({ name, detail }) => fit.widthOf(name) + 4 + Math.min(MIN_DETAIL, fit.widthOf(detail)));
  return shown.reduce((sum, width) => sum + width, fit.widthOf(countCalls(calls.slice(count))) - 1);
}

/** ` [+7: read 5, edit 2]`; "" for no calls. */
function countCalls(calls: readonly CallDescription[]): string {
  const counts = new Map<string, number>();
  for (const { name } of calls) counts.set(name, (counts.get(name) ?? 0) + 1);
  const list = [...counts].map(([name, count]) => `${name} ${count}`).join(", ");
  return calls.length === 0 ? "" : ` [+${calls.length}: ${list}]`;
}

/** Shares a width so that short parts are whole and long ones get equal widths. */
function shareWidth(widths: readonly number[], total: number): readonly number[] {
  const shares = [...widths];
  let left = total;
  const ascending = widths.map((_, at) => at).sort((a, b) => (widths[a] ?? 0) - (widths[b] ?? 0));
  for (const [position, at] of ascending.entries()) {
    const share = Math.min(widths[at] ?? 0, Math.floor(left / (widths.length - position)));
    shares[at] = share;
    left -= share;
  }
  return shares;
}

/**
 * Fits a preview to a width: the text is cut at its end, paths in calls in their middle.
 *
 * @example
 * shortenPreview("Looking. [read packages/agent/src/theme.ts]", 36); // "Looking. [read packages/…/theme.ts]"
 */
export function shortenPreview(preview: string, maxWidth: number, fit: Fit = PLAIN_FIT): string {
  if (maxWidth === Number.POSITIVE_INFINITY || fit.widthOf(preview) <= maxWidth) return preview;
  const { text, calls } = splitPreview(preview);
  if (calls.length === 0) return shortenStart(preview, maxWidth, fit);
  return shareLine(text, calls, maxWidth, fit);
}

const CALL_START = /(?<=^| )\[(?=[A-Za-z_][^\s[\]]*[ \]]|\+\d+: )/g;
const BETWEEN_CALLS = /(?<=\]) (?=\[(?:[A-Za-z_][^\s[\]]*[ \]]|\+\d+: ))/;

/**
 * Takes the preview of a reply apart. A text that ends in brackets is taken for a call, because previews have no other mark.
 *
 * @example
 * splitPreview("Done. [edit a.ts] [bash npm test]").calls[1]; // { name: "bash", detail: "npm test" }
 */
export function splitPreview(preview: string): PreviewParts {
  if (!/[\]…]$/.test(preview)) return { text: preview, calls: [] };
  const starts = [...preview.matchAll(CALL_START)].map(({ index }) => index);
  const start = starts.find((at) => listCalls(preview.slice(at)).every(isBalanced)) ?? starts.find((at) => isKnown(preview.slice(at)));
  if (start === undefined) return { text: preview, calls: [] };
  return { text: preview.slice(0, start).trimEnd(), calls: listCalls(preview.slice(start)).flatMap(parseCall) };
}

function listCalls(text: string): readonly string[] {
  return text.split(BETWEEN_CALLS);
}

/** True if every bracket in a call is closed, the first one at its end. */
function isBalanced(call: string): boolean {
  let depth = 0;
  for (let at = 0; at < call.length; at += 1) {
    const letter = call.charAt(at);
    if (letter === "[") depth += 1;
    if (letter === "]") depth -= 1;
    if (depth === 0) return at === call.length - 1;
  }
  return false;
}

function isKnown(text: string): boolean {
  return classifyTool(/^\[([^\s\]]+)/.exec(text)?.[1] ?? "") !== undefined;
}

function parseCall(text: string): readonly CallDescription[] {
  const inside = text.slice(1).replace(/\]$/, "");
  const counted = /^\+\d+: (.*)$/.exec(inside)?.[1];
  if (counted !== undefined) return counted.split(", ").flatMap(parseCount);
  const space = inside.indexOf(" ");
  return [space === -1 ? { name: inside, detail: "" } : { name: inside.slice(0, space), detail: inside.slice(space + 1) }];
}

function parseCount(text: string): readonly CallDescription[] {
  const [, name, count] = /^(\S+) (\d+)$/.exec(text) ?? [];
  return name === undefined ? [] : Array.from({ length: Math.min(Number(count), 1000) }, () => ({ name, detail: "" }));
}
