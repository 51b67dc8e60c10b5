import { type Arguments, findPatch, findTextEdits } from "@bough/session-core/view";

/** Unchanged lines shown on each side of a change. */
const CONTEXT_LINES = 3;

/** The arguments of a call as a diff, and those that the diff does not show. */
interface EditDiff {
  readonly diff: string;
  readonly shown: readonly string[];
}

/**
 * What a call changes in a file: pairs of old and new text, one or several, or a patch. Undefined when its arguments
 * have none of these shapes. The name of the tool is not used.
 *
 * @example
 * editDiff({ path: "a.ts", oldText: "a\nb", newText: "a\nc" })?.diff; // " a\n-b\n+c"
 */
export function editDiff(args: Arguments): EditDiff | undefined {
  const edits = findTextEdits(args);
  if (edits !== undefined) {
    return { diff: edits.edits.map(({ before, after }) => changeOf(before, after)).join("\n@@\n"), shown: edits.names };
  }
  const patch = findPatch(args);
  return patch && { diff: patch.text.trimEnd(), shown: [patch.name] };
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
