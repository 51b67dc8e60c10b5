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
  const runs: { readonly first: TreeRow; last: TreeRow; readonly calls: string[] }[] = [];
  for (const row of rows) {
    const run = runs.at(-1);
    const isJoined = row.calls !== undefined && row.label === undefined && run?.last.calls !== undefined && run.last.label === undefined;
    if (isJoined && !run.last.isLeaf) {
      run.last = row;
      for (const name of row.calls) run.calls.push(name);
    } else runs.push({ first: row, last: row, calls: [...(row.calls ?? [])] });
  }
  return runs.map(({ first, last, calls }) =>
    first === last && (first.text !== "" || first.calls === undefined)
      ? first
      : { ...first, calls, text: describeCalls(calls), isLeaf: last.isLeaf },
  );
}

function describeCalls(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const parts = [...counts].sort(([, a], [, b]) => b - a).map(([name, times]) => `${name} ${times}`);
  return `${counted(names.length, "call")}: ${parts.join(", ")}`;
}

/** The rows of a segment. Called again for the first segments of a branch. */
type RowsOf = (segment: Segment) => readonly TreeRow[];

/** A row of a line of the tree. */
export interface TreeItem {
  readonly row: TreeRow;
  readonly place: RowPlace;
  /** The branch that starts with this row; its other rows are a group below it, if `place.isFolder`. */
  readonly branch: BranchLine | undefined;
}

/** The rows of a line, and the first rows of the branches that leave it. Those of a branch begin after its first row. */
export function* lineItems(line: BranchLine, rowsOf: RowsOf): Generator<TreeItem, void, void> {
  let isStarted = line.level === 1;
  for (const [at, segment] of line.segments.entries()) {
    const rows = rowsOf(segment);
    if (!isStarted && rows.length === 0) continue;
    for (const row of isStarted ? rows : rows.slice(1)) {
      const branches = row === rows.at(-1) ? branchesAt(line, at) : 0;
      yield { row, place: { level: line.level, branches, isHead: false, entries: 0, isFolder: false }, branch: undefined };
    }
    isStarted = true;
    for (const branch of segment.branches) yield* headItems(branch, rowsOf);
  }
}

/**
 * The first row of a branch, after those of the branches that leave it above that row. Not recursive: a hostile file may have thousands of
 * branches inside each other that show nothing.
 */
function* headItems(start: BranchLine, rowsOf: RowsOf): Generator<TreeItem, void, void> {
  const waiting = [{ branch: start, at: 0 }];
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    const { branch, at } = place;
    const segment = branch.segments[at];
    if (segment === undefined) continue;
    const rows = rowsOf(segment);
    const [row] = rows;
    if (row === undefined) {
      waiting.push({ branch, at: at + 1 });
      for (const other of segment.branches.toReversed()) waiting.push({ branch: other, at: 0 });
      continue;
    }
    const branches = rows.length === 1 ? branchesAt(branch, at) : 0;
    const isFolder = rows.length > 1 || at < branch.segments.length - 1 || segment.branches.length > 0;
    yield { row, place: { level: branch.level - 1, branches, isHead: true, entries: branch.entries, isFolder }, branch };
  }
}

/** The number of branches that leave the end of a segment; 0: none. */
function branchesAt({ segments }: BranchLine, at: number): number {
  const branches = segments[at]?.branches.length ?? 0;
  return branches === 0 ? 0 : branches + (at < segments.length - 1 ? 1 : 0);
}

/**
 * The tree of a session: the active path, and below each branch point the branches that leave it, folded. Open lines are in a list, so
 * that a tree of any depth is written.
 */
export function* treeHtml(lines: readonly BranchLine[], rowsOf: RowsOf): Generator<Html> {
  yield html`<div role="tree" aria-label="Entries of the session" id="rows"><div role="none" class="rows">`;
  const roots = lines.filter(({ level }) => level === 1);
  const open = roots.map((line, at) => ({ line, items: lineItems(line, rowsOf), isActive: at === 0 })).reverse();
  let rows = 0;
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const { value: item } = top.items.next();
    if (item === undefined) {
      if (top.line.level > 1) yield html`</div>`;
      open.pop();
      continue;
    }
    const { row, place, branch } = item;
    yield rowHtml(row, { ...place, isShown: top.isActive && !place.isHead });
    rows += 1;
    if (branch !== undefined && place.isFolder) {
      yield html`<div role="group" hidden>`;
      rows += 1;
      open.push({ line: branch, items: lineItems(branch, rowsOf), isActive: false });
    } else if (rows >= ROWS_OF_CHUNK && top.line.level === 1 && !place.isHead) {
      yield html`</div><div role="none" class="rows">`;
      rows = 0;
    }
  }
  yield html`</div></div>`;
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
const DEEPEST = 7;

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
