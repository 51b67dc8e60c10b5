import type { NavigationResult } from "@bough/compaction";
import type { EntryId, Session } from "@bough/session-core";
import { CancelledError } from "../errors.js";
import { textLines } from "../format/entry-lines.js";
import { describeLeaf } from "../session/choose-session.js";
import { describeMethod } from "../session/compaction-text.js";
import { compactionSettings, type SummaryOptions, withCompactor, withProgressLine } from "../session/compactor.js";
import { isSummary, summaryTitle } from "../session/summaries.js";
import { chooseSummaryModel, type SummaryModel } from "../session/summary-model.js";
import { chooseWindow } from "../session/window-choice.js";
import { fitLine, styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import type { CommonOptions, Invocation } from "./command.js";

/** What `bough go --summarize` may be told besides. */
export interface GoWithSummaryOptions extends CommonOptions, SummaryOptions {
  readonly label?: string;
}

/** Where a navigation ended. */
type Arrival = Extract<NavigationResult, { kind: "moved" | "already-there" }>;

/** `bough go --summarize`: a summary of the branch that is left, and the leaf at it. */
export async function goWithSummary(
  { io, out, options }: Invocation<GoWithSummaryOptions>,
  session: Session,
  target: EntryId | null,
): Promise<void> {
  const model = chooseSummaryModel(io.env, options);
  const previousLeafId = session.leafId;
  const { tokens: contextWindow } = await chooseWindow(session, options.window);
  const arrived = await withProgressLine(io, out, model, ({ signal, onEvent }) =>
    withCompactor(
      { session, contextWindow, summarizer: model?.summarizer ?? [], settings: compactionSettings(options, model), onEvent, now: io.now },
      async (compactor) => {
        const { focus, label } = options;
        return requireArrival(await compactor.navigate(target, { summarize: true, instructions: focus, label, signal }));
      },
    ),
  );
  if (options.json === true) return out.json(arrivalToJson(session, previousLeafId, arrived, model));
  await printArrival(out, session, arrived, model);
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

function arrivalToJson(session: Session, previousLeafId: EntryId | null, arrived: Arrival, model: SummaryModel | null) {
  const { text } = arrived;
  const { summaryEntryId, summary, method, usage } =
    arrived.kind === "moved" ? arrived : { summaryEntryId: null, summary: null, method: null, usage: null };
  const written = { summaryEntryId, summary, method, usage, model: model?.name ?? null, modelFailure: model?.failure() ?? null };
  return { sessionId: session.id, leafId: session.leafId, previousLeafId, text, ...written };
}

async function printArrival(out: Printer, session: Session, arrived: Arrival, model: SummaryModel | null): Promise<void> {
  out.line(...fitLine([styled("dim", "leaf: "), await describeArrival(session, arrived)], out.width, out.glyphs.ellipsis));
  if (arrived.kind === "moved" && arrived.method !== null) out.line(styled("dim", "written by: "), describeMethod(arrived.method, model));
  else out.line(styled("dim", "No summary: nothing was left behind."));
  if (arrived.text !== null) {
    out.line(styled("dim", "The message that was chosen, to be said again:"));
    for (const line of textLines(arrived.text)) out.line(...line);
  }
  if (arrived.kind === "moved") out.line(styled("dim", `Back: bough undo ${session.id}`));
}

/** Its text begins with words for the model; a person sees its short form. */
async function describeArrival(session: Session, arrived: Arrival): Promise<string> {
  const entry = arrived.kind === "moved" && arrived.summaryEntryId !== null ? await session.entry(arrived.summaryEntryId) : undefined;
  return entry !== undefined && isSummary(entry) ? `${entry.id} (branch summary: ${summaryTitle(entry)})` : describeLeaf(session);
}
