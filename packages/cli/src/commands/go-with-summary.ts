import type { NavigationResult } from "@bough/compaction";
import type { EntryId, Session } from "@bough/session-core";
import { CancelledError } from "../errors.js";
import { textLines } from "../format/entry-lines.js";
import { leafInShort } from "../session/choose-session.js";
import { methodText } from "../session/compaction-text.js";
import { settingsFor, type WritingOptions, whileWriting, withCompactor } from "../session/compactor.js";
import { isSummary, summaryTitle } from "../session/summaries.js";
import { type SummaryModel, summaryModel } from "../session/summary-model.js";
import { chooseWindow } from "../session/window-choice.js";
import { fitLine, styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import type { CommonOptions, Invocation } from "./command.js";

/** What `bough go --summarize` may be told besides. */
export interface GoWithSummaryOptions extends CommonOptions, WritingOptions {
  readonly label?: string;
}

/** Where a navigation ended. */
type Arrived = Extract<NavigationResult, { kind: "moved" | "already-there" }>;

/** `bough go --summarize`: a summary of the branch that is left, and the leaf at it. */
export async function goWithSummary(
  { io, out, options }: Invocation<GoWithSummaryOptions>,
  session: Session,
  target: EntryId | null,
): Promise<void> {
  const model = summaryModel(io.env, options);
  const previousLeafId = session.leafId;
  const { tokens: contextWindow } = await chooseWindow(session, options.window);
  const arrived = await whileWriting(io, out, model, ({ signal, onEvent }) =>
    withCompactor(
      { session, contextWindow, summarizer: model?.summarizer ?? [], settings: settingsFor(options, model), onEvent, now: io.now },
      async (compactor) => {
        const { focus, label } = options;
        return arrivedOf(await compactor.navigate(target, { summarize: true, instructions: focus, label, signal }));
      },
    ),
  );
  if (options.json === true) return out.json(asJson(session, previousLeafId, arrived, model));
  await print(out, session, arrived, model);
}

function arrivedOf(result: NavigationResult): Arrived {
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

function asJson(session: Session, previousLeafId: EntryId | null, arrived: Arrived, model: SummaryModel | null) {
  const { text } = arrived;
  const { summaryEntryId, summary, method, usage } =
    arrived.kind === "moved" ? arrived : { summaryEntryId: null, summary: null, method: null, usage: null };
  const written = { summaryEntryId, summary, method, usage, model: model?.name ?? null, modelFailure: model?.failure() ?? null };
  return { sessionId: session.id, leafId: session.leafId, previousLeafId, text, ...written };
}

async function print(out: Printer, session: Session, arrived: Arrived, model: SummaryModel | null): Promise<void> {
  out.line(...fitLine([styled("dim", "leaf: "), await arrivedInShort(session, arrived)], out.width, out.glyphs.ellipsis));
  if (arrived.kind === "moved" && arrived.method !== null) out.line(styled("dim", "written by: "), methodText(arrived.method, model));
  else out.line(styled("dim", "No summary: nothing was left behind."));
  if (arrived.text !== null) {
    out.line(styled("dim", "The message that was chosen, to be said again:"));
    for (const line of textLines(arrived.text)) out.line(...line);
  }
  if (arrived.kind === "moved") out.line(styled("dim", `Back: bough undo ${session.id}`));
}

/** Its text begins with words for the model; a person sees its short form. */
async function arrivedInShort(session: Session, arrived: Arrived): Promise<string> {
  const entry = arrived.kind === "moved" && arrived.summaryEntryId !== null ? await session.entry(arrived.summaryEntryId) : undefined;
  return entry !== undefined && isSummary(entry) ? `${entry.id} (branch summary: ${summaryTitle(entry)})` : leafInShort(session);
}
