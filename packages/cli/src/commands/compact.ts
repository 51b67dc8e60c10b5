import type { BeforeCompact, CompactionDone, CompactionResult } from "@bough/compaction";
import type { EntryId, Session } from "@bough/session-core";
import { CancelledError, NothingToCompactError, NothingToUndoError, SupersededError, TurnOpenError, UsageError } from "../errors.js";
import { count } from "../format/numbers.js";
import { chooseSession } from "../session/choose-session.js";
import { compactionSettings, type SummaryOptions, withCompactor, withProgressLine } from "../session/compactor.js";
import { withStore } from "../session/open-store.js";
import { chooseSummaryModel, type SummaryModel } from "../session/summary-model.js";
import { chooseWindow } from "../session/window-choice.js";
import { styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import type { Command, CommonOptions, Invocation } from "./command.js";
import { measurePlan, readReport, renderPlan, renderReport, reportToJson } from "./compact-report.js";

interface CompactOptions extends CommonOptions, SummaryOptions {
  readonly keep?: number;
  readonly keepFrom?: string;
  readonly dryRun?: boolean;
  readonly undo?: boolean;
}

/** `bough compact`: puts a summary in the place of what is old, or takes the last such summary back. */
export const runCompact: Command<CompactOptions> = async (invocation) => {
  const { io, out, args, options } = invocation;
  checkOptions(options);
  await withStore(io, options.store, options.dryRun === true ? "read" : "change", async (store) => {
    const { session } = await chooseSession(store, io, out, args[0], options.dryRun === true ? "store" : "directory");
    if (options.undo === true) return undo(invocation, session);
    return options.dryRun === true ? dryRun(invocation, session) : compact(invocation, session);
  });
};

function checkOptions({
  undo: undoes,
  dryRun: dry,
  focus,
  keep,
  keepFrom,
  preset,
  window,
  model,
  baseUrl,
  apiKeyEnv,
  extract,
}: CompactOptions): void {
  if (keep !== undefined && keepFrom !== undefined) throw new UsageError("--keep and --keep-from exclude each other. Choose one.");
  const forNew = [dry, focus, keep, keepFrom, preset, window, model, baseUrl, apiKeyEnv, extract];
  if (undoes === true && forNew.some((option) => option !== undefined))
    throw new UsageError("--undo takes the last compaction back and needs no other option.");
}

async function compact({ io, out, options }: Invocation<CompactOptions>, session: Session): Promise<void> {
  const model = chooseSummaryModel(io.env, options);
  const keepFrom = await resolveKeepFrom(session, options);
  const window = await chooseWindow(session, options.window);
  const done = await withProgressLine(io, out, model, ({ signal, onEvent }) =>
    withCompactor(
      {
        session,
        contextWindow: window.tokens,
        summarizer: model?.summarizer ?? [],
        settings: compactionSettings(options, model, options.keep),
        onEvent,
        now: io.now,
      },
      async (compactor) => requireCompacted(await compactor.compact({ instructions: options.focus, keepFrom, signal })),
    ),
  );
  const report = await readReport(session, done, window, model);
  await printWarnings(out, options, model, done);
  if (options.json === true) return out.json(reportToJson(report));
  for (const line of renderReport(report, out.glyphs)) out.line(...line);
}

/** The entry that a person named; it must be one that the context can begin with. */
async function resolveKeepFrom(session: Session, { keepFrom }: CompactOptions): Promise<EntryId | undefined> {
  if (keepFrom === undefined) return undefined;
  const entryId = await session.resolve(keepFrom);
  const { leafId } = session;
  if (leafId === null || (await session.commonAncestor(entryId, leafId)) !== entryId)
    throw new UsageError(`--keep-from ${keepFrom} is not on the branch where the session stands.`);
  return entryId;
}

/** What a person would not see in time behind a result that looks well. */
async function printWarnings(
  out: Printer,
  { focus }: CompactOptions,
  model: SummaryModel | null,
  { method, fidelity, failures }: CompactionDone,
): Promise<void> {
  const failure = method === "extract" || method === "marker" ? (model?.failure() ?? failures.at(-1)?.message) : undefined;
  if (failure !== undefined) await out.note(styled("error", `${model?.name ?? ""} failed, so no model wrote this: ${failure}`));
  if (focus !== undefined && method === "extract") await out.note(styled("error", "--focus is for a model; the extract does not heed it."));
  if (fidelity !== null && fidelity.total > 0 && fidelity.score < LOW_SCORE)
    await out.note(styled("error", "The summary misses most of what was found in its source; --undo takes it back."));
}

/** Below this share of the weighted facts a summary is hardly one. */
const LOW_SCORE = 0.3;

/** What was done; every other end of a compaction is one that a script must be able to tell. */
function requireCompacted(result: CompactionResult): CompactionDone {
  if (result.kind === "compacted") return result;
  throw errorOf(result);
}

function errorOf(result: Exclude<CompactionResult, CompactionDone>): Error {
  switch (result.kind) {
    case "nothing-to-compact":
      return new NothingToCompactError(WHY_NOTHING[result.reason]);
    case "cancelled":
      return new CancelledError("Cancelled; nothing was written.");
    case "superseded":
      return new SupersededError("The session went on elsewhere while the summary was written; nothing was written. Try again.");
    case "deferred":
      return new TurnOpenError("The session is inside a turn; nothing was written.");
    case "failed":
      return result.error;
  }
}

const WHY_NOTHING: Readonly<Record<Extract<CompactionResult, { kind: "nothing-to-compact" }>["reason"], string>> = {
  "just-compacted": "Nothing to compact: nothing came since the last compaction. --undo takes that one back; then compact again.",
  "too-few-messages": "Nothing to compact: there are too few messages.",
  "too-little-text": "Nothing to compact: it is so short that no summary would be shorter.",
  "all-is-kept": "Nothing to compact: all of it fits into what is kept (--keep TOKENS keeps less).",
  "no-cut-point": "Nothing to compact: it is a single turn that must stay as it is.",
};

async function dryRun({ io, out, options }: Invocation<CompactOptions>, session: Session): Promise<void> {
  const keepFrom = await resolveKeepFrom(session, options);
  const model = chooseSummaryModel(io.env, options);
  const window = await chooseWindow(session, options.window);
  const plans: BeforeCompact[] = [];
  // The engine asks before anything is written, and takes no for an answer.
  const beforeCompact = (about: BeforeCompact) => {
    plans.push(about);
    return { cancel: true };
  };
  const settings = compactionSettings(options, model, options.keep);
  const report = await withCompactor({ session, contextWindow: window.tokens, settings, hooks: { beforeCompact } }, async (compactor) => {
    const result = await compactor.compact({ instructions: options.focus, keepFrom });
    if (result.kind === "compacted") throw new TypeError("a dry run has compacted");
    const [planned] = plans;
    if (planned === undefined) throw errorOf(result);
    return measurePlan(planned, await compactor.usage());
  });
  if (options.json === true) return out.json({ sessionId: session.id, dryRun: true, plan: report, window });
  for (const line of renderPlan(report, window)) out.line(...line);
}

async function undo({ out, options }: Invocation<CompactOptions>, session: Session): Promise<void> {
  const previousLeafId = session.leafId;
  const window = await chooseWindow(session, undefined);
  await withCompactor({ session, contextWindow: window.tokens }, async (compactor) => {
    const undone = await compactor.undoCompaction();
    if (undone.kind === "nothing-to-undo") throw new NothingToUndoError("No compaction is in force at the leaf.");
    const { totalTokens } = await compactor.usage();
    const { compactionId, entryId } = undone;
    if (options.json === true) return out.json({ sessionId: session.id, compactionId, entryId, previousLeafId, tokens: totalTokens });
    out.line(styled("dim", "no longer in force: "), compactionId);
    out.line(styled("dim", "context now: "), `${count(totalTokens)} tokens`);
    out.line(styled("dim", `Back: bough go ${session.id} ${previousLeafId ?? "--start"}`));
  });
}
