import type { FileTouch } from "./file-operation.js";

const PATCH_LINE = /^\*\*\* (Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$/;
const UNIFIED_LINE = /^(---|\+\+\+) (?:[ab]\/)?([^\t]+)/;

/**
 * The files a patch touches: Codex's `*** Begin Patch` form (Add, Update, Delete, Move to) or a unified diff.
 *
 * @example
 * pathsInPatch("*** Begin Patch\n*** Delete File: a.ts\n*** End Patch"); // [{ kind: "delete", path: "a.ts" }]
 */
export function pathsInPatch(text: string): readonly FileTouch[] {
  if (text.includes("*** Begin Patch")) return pathsInCodexPatch(text);
  return /^--- .+\n\+\+\+ /m.test(text) ? pathsInUnifiedDiff(text) : [];
}

function pathsInCodexPatch(text: string): readonly FileTouch[] {
  const touches: FileTouch[] = [];
  for (const line of text.split(/\r?\n/)) {
    const [, verb, path, target] = PATCH_LINE.exec(line) ?? [];
    if (verb !== undefined && path !== undefined) touches.push({ kind: verbKind(verb), path: path.trim() });
    if (target !== undefined) touches.push({ kind: "move", path: target.trim() });
  }
  return touches;
}

function verbKind(verb: string): FileTouch["kind"] {
  if (verb === "Add") return "write";
  return verb === "Delete" ? "delete" : "edit";
}

function pathsInUnifiedDiff(text: string): readonly FileTouch[] {
  const touches: FileTouch[] = [];
  let before: string | undefined;
  for (const line of text.split(/\r?\n/)) {
    const [, side, path] = UNIFIED_LINE.exec(line) ?? [];
    if (side === "---") before = path?.trim();
    if (side !== "+++" || path === undefined || before === undefined) continue;
    const after = path.trim();
    if (after === "/dev/null") touches.push({ kind: "delete", path: before });
    else touches.push({ kind: before === "/dev/null" ? "write" : "edit", path: after });
    before = undefined;
  }
  return touches;
}
