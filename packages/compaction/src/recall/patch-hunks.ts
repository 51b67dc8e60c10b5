import { cleanPath } from "@bough/session-core/view";
import type { LineReplacement } from "./apply-change.js";

/** The part of a patch that concerns one file. */
export interface FilePatch {
  readonly kind: "add" | "update" | "delete";
  /** The path before the patch; of an added file the path of the new one. */
  readonly path: string;
  /** The path after the patch; another one than `path`: the file was moved. */
  readonly target: string;
  /** Of an added file one hunk, whose `after` is the whole text. */
  readonly hunks: readonly LineReplacement[];
}

/**
 * Parses a patch: Codex's `*** Begin Patch` form, a unified diff, or blocks of SEARCH and REPLACE as Cline writes them. Hunks without the
 * name of a file belong to `path`. Returns no files for a text of another form.
 *
 * @example
 * parsePatchHunks("*** Begin Patch\n*** Update File: a.ts\n@@\n-one\n+two\n*** End Patch", "a.ts")[0]?.hunks[0]?.after; // ["two"]
 */
export function parsePatchHunks(text: string, path: string): readonly FilePatch[] {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  if (lines.some((line) => line.startsWith("*** Begin Patch"))) return parseCodex(lines);
  if (lines.some((line) => SEARCH_START.test(line))) {
    const hunks = parseSearchBlocks(lines);
    return hunks === undefined ? [] : [{ kind: "update", path, target: path, hunks }];
  }
  return parseUnified(lines, path);
}

const CODEX_FILE = /^\*\*\* (Add|Update|Delete) File: (.+)$/;
const CODEX_MOVE = /^\*\*\* Move to: (.+)$/;

interface OpenFile {
  kind: FilePatch["kind"];
  path: string;
  target: string;
  hunks: LineReplacement[];
}

function parseCodex(lines: readonly string[]): readonly FilePatch[] {
  const files: OpenFile[] = [];
  let hunk: HunkLines | undefined;
  const close = (): void => {
    const made = hunk?.finish();
    if (made !== undefined) files.at(-1)?.hunks.push(made);
    hunk = undefined;
  };
  for (const line of lines) {
    const [, verb, name] = CODEX_FILE.exec(line) ?? [];
    const target = CODEX_MOVE.exec(line)?.[1];
    const file = files.at(-1);
    if (name !== undefined) {
      close();
      files.push({ kind: kindOfVerb(verb), path: name.trim(), target: name.trim(), hunks: [] });
    } else if (target !== undefined && file !== undefined) file.target = target.trim();
    else if (line.startsWith("*** End Patch")) close();
    else if (line.startsWith("*** ") || file === undefined) continue;
    else if (line.startsWith("@@")) {
      close();
      hunk = new HunkLines(line.replace(/^@@ ?/, "").trimEnd() || null, null);
    } else {
      hunk ??= new HunkLines(null, null);
      hunk.add(line);
    }
  }
  close();
  return files;
}

function kindOfVerb(verb: string | undefined): FilePatch["kind"] {
  if (verb === "Add") return "add";
  return verb === "Delete" ? "delete" : "update";
}

const UNIFIED_FILE = /^(---|\+\+\+) (?:[ab]\/)?([^\t]+)/;
const UNIFIED_HUNK = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

function parseUnified(lines: readonly string[], path: string): readonly FilePatch[] {
  const files: OpenFile[] = [];
  let before: string | undefined;
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? "";
    const counts = UNIFIED_HUNK.exec(line);
    if (counts !== null) {
      const hunk = new HunkLines(null, Number(counts[1]));
      index = hunk.take(lines, index + 1, Number(counts[2] ?? 1), Number(counts[3] ?? 1)) - 1;
      if (files.length === 0) files.push({ kind: "update", path, target: path, hunks: [] });
      const made = hunk.finish();
      if (made !== undefined) files.at(-1)?.hunks.push(made);
      continue;
    }
    const [, side, name] = UNIFIED_FILE.exec(line) ?? [];
    if (side === "---") before = name?.trim();
    if (side !== "+++" || name === undefined || before === undefined) continue;
    files.push(unifiedFile(before, name.trim()));
    before = undefined;
  }
  return files;
}

function unifiedFile(before: string, after: string): OpenFile {
  if (after === "/dev/null") return { kind: "delete", path: before, target: before, hunks: [] };
  if (before === "/dev/null") return { kind: "add", path: after, target: after, hunks: [] };
  return { kind: "update", path: before, target: after, hunks: [] };
}

const SEARCH_START = /^(?:<{5,}|-{5,}) ?SEARCH>?\s*$/;
const SEARCH_MIDDLE = /^={5,}\s*$/;
const SEARCH_END = /^(?:>{5,}|\+{5,}) ?REPLACE\s*$/;

/** The blocks of a text; undefined: one of them does not end. */
function parseSearchBlocks(lines: readonly string[]): readonly LineReplacement[] | undefined {
  const replacements: LineReplacement[] = [];
  for (let position = 0; position < lines.length; position += 1) {
    if (!SEARCH_START.test(lines[position] ?? "")) continue;
    const middle = lines.findIndex((line, index) => index > position && SEARCH_MIDDLE.test(line));
    const end = lines.findIndex((line, index) => index > middle && SEARCH_END.test(line));
    if (middle < 0 || end < 0) return undefined;
    // Cline gives the number of the first line as `:start_line:12` and a line of dashes before the text.
    const first = lines.slice(position + 1, middle).findLastIndex((line) => /^:(?:start|end)_line:/.test(line));
    const from = first < 0 ? position + 1 : position + 2 + first + (/^-+$/.test(lines[position + 2 + first] ?? "") ? 1 : 0);
    replacements.push({
      kind: "lines",
      before: lines.slice(from, middle),
      after: lines.slice(middle + 1, end),
      context: null,
      nearLine: null,
    });
    position = end;
  }
  return replacements;
}

/** The lines of one hunk. */
class HunkLines {
  readonly #before: string[] = [];
  readonly #after: string[] = [];
  readonly #context: string | null;
  readonly #nearLine: number | null;
  #changes = false;

  constructor(context: string | null, nearLine: number | null) {
    this.#context = context;
    this.#nearLine = nearLine;
  }

  add(line: string): void {
    const rest = line.slice(1);
    const sign = line.charAt(0);
    if (sign === "\\") return;
    if (sign === "+" || sign === "-") this.#changes = true;
    if (sign === "+") return void this.#after.push(rest);
    this.#before.push(rest);
    if (sign !== "-") this.#after.push(rest);
  }

  /** Adds the lines of a hunk with counts; returns the index after its last line. */
  take(lines: readonly string[], start: number, before: number, after: number): number {
    let [old, added, index] = [before, after, start];
    for (; index < lines.length && (old > 0 || added > 0); index += 1) {
      const line = lines[index] ?? "";
      if (!"-+ \\".includes(line.charAt(0))) break;
      if (!/^[+\\]/.test(line)) old -= 1;
      if (!/^[-\\]/.test(line)) added -= 1;
      this.add(line);
    }
    return index;
  }

  /** undefined: the hunk changes nothing. */
  finish(): LineReplacement | undefined {
    if (!this.#changes) return undefined;
    return { kind: "lines", before: this.#before, after: this.#after, context: this.#context, nearLine: this.#nearLine };
  }
}

/** True if two written paths are one: `./a.ts` and `a.ts`. */
export function isSamePath(one: string, other: string): boolean {
  return one === other || (cleanPath(one) ?? one) === (cleanPath(other) ?? other);
}
