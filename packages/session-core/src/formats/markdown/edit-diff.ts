import { isObject } from "../../entry/json.js";
import { pathsInPatch } from "../../files/patch-paths.js";

type Arguments = Readonly<Record<string, unknown>>;

/** Unchanged lines shown on each side of a change. */
const CONTEXT_LINES = 3;

// How the agents we know name what is taken out and what is put in.
const PAIRS = [
  ["oldText", "newText"],
  ["old_text", "new_text"],
  ["old_string", "new_string"],
  ["oldString", "newString"],
  ["old_str", "new_str"],
  ["search", "replace"],
] as const;

const LISTS = ["edits", "replacements"] as const;

/** The arguments of a call as a diff, and those that the diff does not show. */
export interface EditDiff {
  readonly diff: string;
  readonly shown: readonly string[];
}

/**
 * What a call changes in a file: pairs of old and new text, one or several, or a patch. Undefined when its arguments
 * have none of these shapes; what the tool is called does not matter.
 *
 * @example
 * editDiff({ path: "a.ts", oldText: "a\nb", newText: "a\nc" })?.diff; // " a\n-b\n+c"
 */
export function editDiff(args: Arguments): EditDiff | undefined {
  return pairDiff(args) ?? listDiff(args) ?? patchDiff(args);
}

function pairDiff(args: Arguments): EditDiff | undefined {
  for (const [before, after] of PAIRS) {
    const old = args[before];
    const now = args[after];
    if (typeof old === "string" && typeof now === "string") return { diff: changeOf(old, now), shown: [before, after] };
  }
  return undefined;
}

function listDiff(args: Arguments): EditDiff | undefined {
  for (const key of LISTS) {
    const edits = args[key];
    if (!Array.isArray(edits) || edits.length === 0) continue;
    const changes = edits.map((edit: unknown) => (isObject(edit) ? pairDiff(edit)?.diff : undefined));
    // An edit of another shape would be missing from the diff, so then all are shown as they are.
    if (changes.every((change) => change !== undefined)) return { diff: changes.join("\n@@\n"), shown: [key] };
  }
  return undefined;
}

function patchDiff(args: Arguments): EditDiff | undefined {
  for (const [key, value] of Object.entries(args)) {
    const text = [value].flat().find((one): one is string => typeof one === "string" && pathsInPatch(one).length > 0);
    if (text !== undefined) return { diff: text.trimEnd(), shown: [key] };
  }
  return undefined;
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
