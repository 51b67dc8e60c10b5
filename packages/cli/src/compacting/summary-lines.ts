import type { Checkpoint } from "@bough/compaction";
import { textLines } from "../format/entry-lines.js";
import { count, counted } from "../format/numbers.js";
import { type Column, tableLines } from "../format/table.js";
import { dateTime } from "../format/time.js";
import { type Line, styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { type ListedSummary, member, type SummaryEntry } from "./summaries.js";
import { filesText } from "./summary-facts.js";

const COLUMNS: readonly Column[] = [
  { heading: "no.", align: "right" },
  { heading: "made" },
  { heading: "title", shrinksTo: 20 },
  { heading: "why", optional: true },
  { heading: "tokens", align: "right" },
  { heading: "messages", align: "right", optional: true },
  { heading: "files", align: "right", optional: true },
  { heading: "entry", shrinksTo: 8, optional: true },
];

/** A table of summaries. */
export async function summaryTable(out: Printer, listed: readonly ListedSummary[]): Promise<readonly Line[]> {
  const rows = listed.map((one): readonly Line[] => [
    [one.number === null ? "" : String(one.number)],
    [styled("dim", dateTime(one.createdAtMs))],
    [styled("summary", one.title)],
    [whyText(one)],
    [tokensText(one, out.glyphs.to)],
    [one.messages === null ? "" : count(one.messages)],
    [one.readFiles.length + one.modifiedFiles.length === 0 ? "" : count(one.readFiles.length + one.modifiedFiles.length)],
    [styled("dim", one.entryId)],
  ]);
  return tableLines(COLUMNS, rows, out.width, out.glyphs.ellipsis);
}

function whyText({ kind, number, onPath, trigger }: ListedSummary): string {
  if (kind === "branch summary") return "branch left";
  if (onPath && number === null) return "undone";
  return trigger ?? "";
}

function tokensText({ tokensBefore, tokensAfter }: ListedSummary, to: string): string {
  if (tokensBefore === null && tokensAfter === null) return "";
  return `${tokensBefore === null ? "?" : count(tokensBefore)} ${to} ${tokensAfter === null ? "?" : count(tokensAfter)}`;
}

/** One summary in full: what is known beside it, then its text. */
export function summaryInFull(
  { to }: Printer["glyphs"],
  listed: ListedSummary,
  entry: SummaryEntry,
  checkpoint: Checkpoint | undefined,
): readonly Line[] {
  const { number, kind, entryId, title, createdAtMs, messages, readFiles, modifiedFiles } = listed;
  const covers = checkpoint?.covers;
  const tokens = tokensText(listed, to);
  const why = whyText(listed);
  return [
    [styled("bold", title)],
    fact(
      kind,
      `${number === null ? "" : `no. ${number}, `}entry ${entryId}, made ${dateTime(createdAtMs)}${why === "" ? "" : ` (${why})`}`,
    ),
    ...(messages === null ? [] : [fact("stands for", counted(messages, "message"))]),
    ...(covers === null || covers === undefined
      ? []
      : [fact("entries", `${count(covers.entries)}, ${covers.fromEntryId} to ${covers.toEntryId}`)]),
    ...(tokens === "" ? [] : [fact("tokens", tokens)]),
    ...writtenLines(entry),
    fact("files", filesText({ readFiles, modifiedFiles })),
    ...readFiles.map((path): Line => [styled("dim", "  read "), path]),
    ...modifiedFiles.map((path): Line => [styled("dim", "  modified "), path]),
    [],
    ...textLines(entry.summary),
  ];
}

function writtenLines(entry: SummaryEntry): readonly Line[] {
  const [method, fidelity] = [member(entry, "method"), member(entry, "fidelity")];
  const score = typeof fidelity === "object" && fidelity !== null && "score" in fidelity ? fidelity.score : undefined;
  return [
    ...(typeof method === "string" ? [fact("written as", method)] : []),
    ...(typeof score === "number" ? [fact("facts found again", `score ${score.toFixed(2)} of 1`)] : []),
  ];
}

function fact(name: string, value: string): Line {
  return [styled("dim", `${name}: `), value];
}
