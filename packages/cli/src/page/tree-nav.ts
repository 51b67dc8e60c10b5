import type { OutlineRow } from "@bough/session-core";
import { counted, isTyped, previewOf, type Step } from "@bough/session-core/view";
import type { BranchLine, Segment } from "./branches.js";
import { entryLink } from "./content.js";
import { type Html, html, NOTHING } from "./html.js";
import { withoutMarks } from "./plain-text.js";

/** A row of the tree: a step of the conversation, or several replies one after the other that only call tools. */
export interface TreeRow {
  /** The number of its first step. */
  readonly step: number;
  readonly id: string;
  readonly kind: string;
  readonly text: string;
  readonly label: string | undefined;
  readonly isLeaf: boolean;
  /** The tools that it calls; undefined: it has text of its own. */
  readonly calls?: readonly string[] | undefined;
}

/** The row of a step. */
export function treeRow(step: Step, place: Omit<TreeRow, "text" | "calls">, directory: string | null): TreeRow {
  if (step.kind === "entry") return { ...place, text: withoutMarks(previewOf(step.entry, directory)) };
  const { message } = step;
  const isCalls = message.content.every(({ type }) => type === "toolCall" || type === "thinking");
  const calls = message.content.flatMap((block) => (block.type === "toolCall" ? [block.name] : []));
  return {
    ...place,
    text: withoutMarks(previewOf({ type: "message", message }, directory)),
    ...(isCalls && calls.length > 0 ? { calls } : {}),
  };
}

/** The class of the row of an entry, as that of its article. */
export function rowKind(row: OutlineRow): string {
  if (isTyped(row)) return "user";
  if (row.type === "compaction" || row.type === "branch_summary") return "summary";
  if (row.role === "assistant" || row.role === "system") return row.role;
  return row.role === "bashExecution" ? "command" : "custom";
}

/** Replies that only call tools become one row: `12 calls: read 5, edit 4`. One with a label or at the leaf stays a row. */
export function mergeCalls(rows: readonly TreeRow[]): readonly TreeRow[] {
  const merged: TreeRow[] = [];
  for (const row of rows) {
    const last = merged.at(-1);
    const isJoined =
      last?.calls !== undefined && row.calls !== undefined && row.label === undefined && last.label === undefined && !last.isLeaf;
    if (!isJoined) merged.push(row);
    else merged[merged.length - 1] = { ...last, calls: [...(last.calls ?? []), ...(row.calls ?? [])], text: "", isLeaf: row.isLeaf };
  }
  return merged.map((row) => (row.text === "" && row.calls !== undefined ? { ...row, text: describeCalls(row.calls) } : row));
}

function describeCalls(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const parts = [...counts].sort(([, a], [, b]) => b - a).map(([name, times]) => `${name} ${times}`);
  return `${counted(names.length, "call")}: ${parts.join(", ")}`;
}

/** The rows of a segment, gathered when it was written. */
export type RowsOf = ReadonlyMap<Segment, readonly TreeRow[]>;

/** A line that is being written. */
interface OpenLine {
  readonly line: BranchLine;
  /** True for the active path. */
  readonly isActive: boolean;
  /** The next segment. */
  at: number;
  /** The group below its first row, which contains its other rows. `needed`: the first row is not written yet. */
  group: "none" | "needed" | "open";
}

/**
 * The tree of a session: the active path, and below each branch point the branches that leave it, folded. Open lines are in a list, so
 * that a tree of any depth is written.
 */
export function* treeHtml(lines: readonly BranchLine[], rowsOf: RowsOf): Generator<Html> {
  yield html`<div role="tree" aria-label="Entries of the session" id="rows"><div role="none" class="rows">`;
  let rows = 0;
  const open: OpenLine[] = lines
    .filter(({ level }) => level === 1)
    .map((line, at) => openLine(line, at === 0))
    .reverse();
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const segment = top.line.segments[top.at];
    if (segment === undefined) {
      if (top.group === "open") yield html`</div>`;
      open.pop();
      continue;
    }
    top.at += 1;
    for (const row of segmentRows(top, segment, rowsOf)) {
      yield row;
      rows += 1;
      if (rows < ROWS_OF_CHUNK || open.length > 1 || top.group !== "none") continue;
      yield html`</div><div role="none" class="rows">`;
      rows = 0;
    }
    open.push(...segment.branches.map((line) => openLine(line, false)).reverse());
  }
  yield html`</div></div>`;
}

function openLine(line: BranchLine, isActive: boolean): OpenLine {
  return { line, isActive, at: 0, group: line.level > 1 ? "needed" : "none" };
}

function* segmentRows(open: OpenLine, segment: Segment, rowsOf: RowsOf): Generator<Html> {
  const { line } = open;
  const rows = mergeCalls(rowsOf.get(segment) ?? []);
  for (const [at, row] of rows.entries()) {
    const goesOn = open.at < line.segments.length;
    const branches = at === rows.length - 1 && segment.branches.length > 0 ? segment.branches.length + (goesOn ? 1 : 0) : 0;
    const isHead = open.group === "needed";
    const isFolder = isHead && (at < rows.length - 1 || goesOn || segment.branches.length > 0);
    const level = isHead ? line.level - 1 : line.level;
    yield rowHtml(row, { level, branches, isHead, isFolder, isShown: open.isActive, entries: line.entries });
    if (!isHead) continue;
    open.group = isFolder ? "open" : "none";
    if (isFolder) yield html`<div role="group" hidden>`;
  }
}

/** The place of a row in its tree. */
export interface RowPlace {
  readonly level: number;
  /** Number of branches that leave it; 0: it is no branch point. */
  readonly branches: number;
  /** True if a branch starts with it; that branch has `entries` entries. */
  readonly isHead: boolean;
  readonly entries: number;
  /** True if its branch can be folded. */
  readonly isFolder: boolean;
  /** True if it is known to be of the branch that the page shows first; the script marks the rows of that branch otherwise. */
  readonly isShown?: boolean;
}

/** Rows in a block, which browsers skip as a whole while it is not on screen. */
export const ROWS_OF_CHUNK = 100;

/** Deeper rows are not indented further. */
const DEEPEST = 9;

/** A row as a link to its entry. */
export function rowHtml(row: TreeRow, { level, branches, isHead, isFolder, isShown, entries }: RowPlace): Html {
  const marks = [
    ...(row.label === undefined ? [] : [html` <span class="label">${row.label}</span>`]),
    ...(branches < 2 ? [] : [html` <span class="badge">${branches} branches</span>`]),
    ...(isHead ? [html` <span class="badge">${counted(entries, "entry", "entries")}</span>`] : []),
    ...(row.isLeaf ? [html` <span class="badge">leaf</span>`] : []),
  ];
  const kind = `row ${row.kind} in${Math.min(level, DEEPEST)}${isHead ? " head" : ""}${row.calls === undefined ? "" : " calls"}${isShown === true ? " shown" : ""}`;
  return html`<a role="treeitem" class="${kind}" href="${entryLink(row.id)}" data-step="${row.step}" aria-level="${level}"${isFolder ? html` aria-expanded="false"` : NOTHING} tabindex="-1"><span class="said">${row.text}</span>${marks}</a>\n`;
}
