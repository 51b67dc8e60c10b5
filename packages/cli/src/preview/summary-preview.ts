import type { Entry } from "@bough/session-core";
import { z } from "zod";
import { filesOf } from "../compacting/summary-facts.js";
import { count, counted } from "../format/numbers.js";
import type { Glyphs } from "../terminal/glyphs.js";
import type { Line } from "../terminal/line.js";
import { markdownLines } from "./markdown.js";
import { factLines, type TextBudget } from "./text-budget.js";

// What our own engine writes beside the schema. Other programs write such entries too, so each member stands alone.
const besideSchema = z.object({
  covers: z
    .looseObject({
      fromEntryId: z.string(),
      toEntryId: z.string(),
      entries: z.number().optional().catch(undefined),
      messages: z.number().optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
  method: z.string().optional().catch(undefined),
  fidelity: z.looseObject({ score: z.number(), total: z.number() }).optional().catch(undefined),
});

/** A compaction or the summary of a branch: what it covers, what it cost, its files, then its text. */
export function summaryPreview(
  entry: Extract<Entry, { type: "compaction" | "branch_summary" }>,
  budget: TextBudget,
  glyphs: Glyphs,
): readonly Line[] {
  const text = markdownLines(budget.take(entry.summary), budget.width, glyphs);
  return [...summaryFacts(entry, budget.width, glyphs), [], ...(text.length > 0 ? text : [["(no text)"]])];
}

function summaryFacts(entry: Extract<Entry, { type: "compaction" | "branch_summary" }>, width: number, { to }: Glyphs): readonly Line[] {
  const { covers, method, fidelity } = besideSchema.parse(entry);
  const fact = (name: string, value: string | number | null | undefined) =>
    value === undefined || value === null || value === "" ? [] : factLines(name, value, width);
  const { readFiles, modifiedFiles } = filesOf(entry.details);
  return [
    ...(entry.type === "compaction" ? compactionFacts(entry, to, fact) : fact("of the branch that ends at", entry.fromId ?? "(unknown)")),
    ...fact("covers", covers === undefined ? undefined : coverText(covers, to)),
    ...fact("written as", method),
    ...fact(
      "fidelity",
      fidelity === undefined ? undefined : `${Math.round(fidelity.score * 100)} % of ${counted(fidelity.total, "fact")} found again`,
    ),
    ...fact("files read", readFiles.join(", ")),
    ...fact("files modified", modifiedFiles.join(", ")),
  ];
}

type FactDrawing = (name: string, value: string | number | null | undefined) => readonly Line[];

function compactionFacts(entry: Extract<Entry, { type: "compaction" }>, to: string, fact: FactDrawing): readonly Line[] {
  const { tokensBefore, tokensAfter } = entry;
  const tokens = tokensBefore === undefined && tokensAfter === undefined ? "" : `${figure(tokensBefore)} ${to} ${figure(tokensAfter)}`;
  return [
    ...fact("title", entry.title),
    ...fact("kept from", entry.firstKeptEntryId ?? "nothing kept"),
    ...fact("tokens", tokens),
    ...fact("trigger", entry.trigger),
    ...fact("instructions", entry.instructions),
  ];
}

function figure(tokens: number | undefined): string {
  return tokens === undefined ? "?" : count(tokens);
}

function coverText(covers: NonNullable<z.output<typeof besideSchema>["covers"]>, to: string): string {
  const { entries, messages, fromEntryId, toEntryId } = covers;
  const figures = [
    ...(entries === undefined ? [] : [counted(entries, "entry", "entries")]),
    ...(messages === undefined ? [] : [counted(messages, "message")]),
  ];
  return `${figures.join(", ")}${figures.length > 0 ? ", " : ""}${fromEntryId} ${to} ${toEntryId}`;
}
