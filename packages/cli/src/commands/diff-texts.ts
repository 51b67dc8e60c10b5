import { type EntryId, type FileOperation, type OutlineRow, type Session, textOf } from "@bough/session-core";
import { findTextEdits } from "@bough/session-core/view";
import { entryKind, entryLines } from "../format/entry-lines.js";
import { diffLines } from "../preview/diff.js";
import { styled, textOfLine } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { PRINTED_CHARS } from "./recall-output.js";

/** A branch below the last common entry. */
export interface Rest {
  readonly session: Session;
  readonly name: string;
  /** True if the user named one entry, and not the leaf or a session. */
  readonly isEntry: boolean;
  /** All entries from the root. */
  readonly path: readonly OutlineRow[];
  /** The entries that are not on the other branch. */
  readonly rows: readonly OutlineRow[];
  /** The file operations of `rows`. */
  readonly operations: readonly FileOperation[];
  readonly read: readonly string[];
  readonly modified: readonly string[];
}

/** Files that tool calls changed on one of the branches, or on both. */
export interface ChangedFiles {
  readonly onlyLeft: readonly string[];
  readonly onlyRight: readonly string[];
  readonly both: readonly string[];
}

/** Returns the changed files, by the branches that changed them. */
export function changedFiles(left: Rest, right: Rest): ChangedFiles {
  const [before, after] = [new Set(left.modified), new Set(right.modified)];
  return {
    onlyLeft: left.modified.filter((file) => !after.has(file)),
    onlyRight: right.modified.filter((file) => !before.has(file)),
    both: left.modified.filter((file) => after.has(file)),
  };
}

/** Prints the changed files. For a file that both branches changed, also prints the difference of its last known texts. */
export async function printFiles(out: Printer, left: Rest, right: Rest): Promise<void> {
  const { onlyLeft, onlyRight, both } = changedFiles(left, right);
  for (const [where, files] of [
    [`only on ${left.name}`, onlyLeft],
    [`only on ${right.name}`, onlyRight],
    ["on both", both],
  ] as const) {
    if (files.length === 0) continue;
    out.line();
    out.line(styled("bold", `Files changed ${where}:`));
    for (const file of files) out.line("  ", file);
  }
  for (const file of both) await printFile(out, file, left, right);
}

async function printFile(out: Printer, file: string, left: Rest, right: Rest): Promise<void> {
  const [before, after] = [await stateOf(left, file), await stateOf(right, file)];
  out.line();
  if (before === undefined || after === undefined) {
    out.line(styled("bold", file), styled("dim", "  its whole text is not known; the edits:"));
    await printEdits(out, "---", left, file);
    await printEdits(out, "+++", right, file);
    return;
  }
  const lines = diffLines(before.text, after.text, out.width, out.glyphs);
  out.line(styled("bold", file), styled("dim", lines.length === 0 ? "  the same text on both" : "  as the tool calls left it"));
  for (const [name, { note }] of [
    [left.name, before],
    [right.name, after],
  ] as const)
    if (note !== "") out.line(styled("dim", `  ${name}: ${note}`));
  for (const line of lines) out.line(...line);
  await out.pump();
}

const NOTES = { known: "", outdated: "changed again by a call that cannot be replayed", deleted: "deleted" } as const;

/** The last known text of a file on a branch; undefined: no call shows it. */
async function stateOf({ session, path }: Rest, file: string): Promise<{ readonly text: string; readonly note: string } | undefined> {
  const { recallFile } = await import("@bough/compaction");
  const { data } = await recallFile(session, { path: file, at: path.at(-1)?.id }, { maxChars: PRINTED_CHARS });
  return data.state === "unknown" ? undefined : { text: data.content ?? "", note: NOTES[data.state] };
}

async function printEdits(out: Printer, mark: "---" | "+++", { session, name, operations }: Rest, file: string): Promise<void> {
  out.line(styled(mark === "---" ? "removed" : "added", `${mark} ${name}`));
  for (const { path, kind, entryId, toolCallId } of operations) {
    if (path !== file || kind === "read") continue;
    const edits = await editsOf(session, entryId, toolCallId);
    if (edits.length === 0) out.line(styled("dim", `${kind} in ${entryId.slice(0, 8)}`));
    for (const { before, after } of edits) for (const line of diffLines(before, after, out.width, out.glyphs)) out.line(...line);
  }
  await out.pump();
}

async function editsOf(session: Session, entryId: EntryId, toolCallId: string) {
  const entry = await session.entry(entryId);
  if (entry.type !== "message" || entry.message.role !== "assistant") return [];
  const call = entry.message.content.find((block) => block.type === "toolCall" && block.id === toolCallId);
  return (call?.type === "toolCall" ? findTextEdits(call.arguments)?.edits : undefined) ?? [];
}

/**
 * Prints the difference of two entries of one kind that the user named, in full; else of the messages of the user with which the
 * branches begin: a message that was sent again with changes.
 */
export async function printTexts(out: Printer, left: Rest, right: Rest): Promise<void> {
  const named = left.isEntry && right.isEntry ? await namedTexts(left, right) : undefined;
  const firsts = named ?? { title: "The first message of the user on each:", before: await firstText(left), after: await firstText(right) };
  const { title, before, after } = firsts;
  if (before === undefined || after === undefined) return;
  const lines = diffLines(`${before}\n`, `${after}\n`, out.width, out.glyphs);
  if (lines.length === 0 && named === undefined) return;
  out.line();
  out.line(styled("bold", title), lines.length === 0 ? styled("dim", " no difference") : "");
  for (const line of lines) out.line(...line);
}

/** The texts of the two named entries; undefined if they are of different kinds, or the same. */
async function namedTexts(left: Rest, right: Rest) {
  const [from, to] = [left.path.at(-1), right.path.at(-1)];
  if (from === undefined || to === undefined || from.id === to.id) return undefined;
  const [one, other] = [await left.session.entry(from.id), await right.session.entry(to.id)];
  if (entryKind(one) !== entryKind(other)) return undefined;
  const [before, after] = [one, other].map((entry) => entryLines(entry).map(textOfLine).join("\n"));
  return { title: `The texts of ${left.name} and ${right.name}:`, before, after };
}

async function firstText({ session, rows }: Rest): Promise<string | undefined> {
  const row = rows.find(({ role }) => role === "user");
  const entry = row === undefined ? undefined : await session.entry(row.id);
  return entry?.type === "message" && entry.message.role === "user" ? textOf(entry.message.content) : undefined;
}
