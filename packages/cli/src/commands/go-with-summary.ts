import type { NavigationResult } from "@bough/compaction";
import type { EntryId, Session } from "@bough/session-core";
import { isSummary } from "@bough/session-core/view";
import { summaryWork } from "../agent/summary-model.js";
import { CancelledError } from "../errors.js";
import { textLines } from "../format/entry-lines.js";
import { describeLeaf } from "../session/choose-session.js";
import { describeMethod } from "../session/compaction-text.js";
import { type SummaryModel, type SummaryOptions, withCompactor, withProgressLine } from "../session/compactor.js";
import { shortEntryId } from "../session/names.js";
import { summaryTitle } from "../session/summaries.js";
import { styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import type { CommonOptions, Invocation } from "./command.js";

/** Options of `bough go --summarize`. */
export interface GoWithSummaryOptions extends CommonOptions, SummaryOptions {
  readonly label?: string;
}

/** The result of a navigation that did not fail. */
type Arrival = Extract<NavigationResult, { kind: "moved" | "already-there" }>;

/** `bough go --summarize`: appends a summary of the abandoned branch and moves the leaf to it. */
export async function goWithSummary(
  { io, out, options }: Invocation<GoWithSummaryOptions>,
  session: Session,
  target: EntryId | null,
): Promise<void> {
  const { model, compactor: given } = await summaryWork(io, session, options);
  const previousLeafId = session.leafId;
  const arrival = await withProgressLine(io, out, model, ({ signal, onEvent }) =>
    withCompactor({ ...given, onEvent }, async (compactor) => {
      const { focus, label } = options;
      return requireArrival(await compactor.navigate(target, { summarize: true, instructions: focus, label, signal }));
    }),
  );
  if (options.json === true) return out.json(arrivalToJson(session, previousLeafId, arrival, model));
  await printArrival(out, session, arrival, model);
}

function requireArrival(result: NavigationResult): Arrival {
  switch (result.kind) {
    case "moved":
    case "already-there":
      return result;
    case "cancelled":
      throw new CancelledError("Cancelled; the leaf was not moved and nothing was written.");
    case "failed":
      throw result.error;
  }
}

function arrivalToJson(session: Session, previousLeafId: EntryId | null, arrival: Arrival, model: SummaryModel | null) {
  const { text } = arrival;
  const { summaryEntryId, summary, method, usage } =
    arrival.kind === "moved" ? arrival : { summaryEntryId: null, summary: null, method: null, usage: null };
  const written = { summaryEntryId, summary, method, usage, model: model?.name ?? null, modelFailure: model?.failure() ?? null };
  return { sessionId: session.id, leafId: session.leafId, previousLeafId, text, ...written };
}

async function printArrival(out: Printer, session: Session, arrival: Arrival, model: SummaryModel | null): Promise<void> {
  out.fitted(styled("dim", "leaf: "), await describeArrival(out, session, arrival));
  if (arrival.kind === "moved" && arrival.method !== null) out.line(styled("dim", "written by: "), describeMethod(arrival.method, model));
  else out.line(styled("dim", "No summary: no entries were left behind."));
  if (arrival.text !== null) {
    out.line(styled("dim", "Message to resend:"));
    await out.lines(textLines(arrival.text));
  }
  if (arrival.kind === "moved") out.line(styled("dim", `Back: ${out.command(`undo ${session.id}`)}`));
}

/** Shows the short summary, because the text of the entry begins with instructions for the model. */
async function describeArrival(out: Printer, session: Session, arrival: Arrival): Promise<string> {
  const entry = arrival.kind === "moved" && arrival.summaryEntryId !== null ? await session.entry(arrival.summaryEntryId) : undefined;
  return entry !== undefined && isSummary(entry)
    ? `${await shortEntryId(session, entry.id, out)} (branch summary: ${summaryTitle(entry)})`
    : describeLeaf(session, out);
}
