import type { TextEdit } from "@bough/session-core/view";

/** Unchanged lines shown on each side of a change. */
const CONTEXT_LINES = 3;

/**
 * Returns the changes of a file as a diff without file names and line numbers, which a call does not have.
 *
 * @example
 * editsDiff([{ before: "a\nb", after: "a\nc" }]); // " a\n-b\n+c"
 */
export function editsDiff(edits: readonly Pick<TextEdit, "before" | "after">[]): string {
  return edits.map(({ before, after }) => changeOf(before, after)).join("\n@@\n");
}

/** The text of a new file as a diff. */
export function additions(text: string): string {
  return marked("+", linesOf(text)).join("\n");
}

function changeOf(old: string, now: string): string {
  const before = linesOf(old);
  const after = linesOf(now);
  const head = common(before, after, (lines, at) => lines[at]);
  const tail = common(before.slice(head), after.slice(head), (lines, at) => lines[lines.length - 1 - at]);
  return [
    ...marked(" ", before.slice(Math.max(0, head - CONTEXT_LINES), head)),
    ...marked("-", before.slice(head, before.length - tail)),
    ...marked("+", after.slice(head, after.length - tail)),
    ...marked(" ", after.slice(after.length - tail, after.length - tail + CONTEXT_LINES)),
  ].join("\n");
}

function common(a: readonly string[], b: readonly string[], pick: (lines: readonly string[], at: number) => string | undefined): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && pick(a, length) === pick(b, length)) length++;
  return length;
}

function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r\n?|\n/);
}

function marked(mark: string, lines: readonly string[]): readonly string[] {
  return lines.map((line) => `${mark}${line}`);
}
