import type { BeforeCompact, CompactionDone, CompactionResult, TokenUse } from "@bough/compaction";
import type { EntryId, Session } from "@bough/session-core";
import { count, counted, describeFidelity, isSummary, summaryFiles } from "@bough/session-core/view";
import { summaryWork } from "../agent/summary-model.js";
import { loadConfig } from "../config/config-file.js";
import { CancelledError, CommandError, UsageError } from "../errors.js";
import { chooseSession } from "../session/choose-session.js";
import { describeCompaction, describeFiles, describeMethod } from "../session/compaction-text.js";
import { compactionSettings, type SummaryModel, type SummaryOptions, withCompactor, withProgressLine } from "../session/compactor.js";
import { resolveEntry } from "../session/names.js";
import { withStore } from "../session/open-store.js";
import { extraField } from "../session/summaries.js";
import { chooseWindow, describeWindow, type WindowChoice } from "../session/window-choice.js";
import { fieldLine, type Line, styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { type Command, type CommonOptions, confirm, type Invocation } from "./command.js";

interface CompactOptions extends CommonOptions, SummaryOptions {
  readonly keep?: number;
  readonly keepFrom?: string;
  readonly dryRun?: boolean;
  readonly undo?: boolean;
  readonly yes?: boolean;
}

/** `bough compact`: replaces old messages in the context by a summary, or undoes the active compaction. */
export const runCompact: Command<CompactOptions> = async (invocation) => {
  const { io, out, args, options } = invocation;
  checkOptions(options);
  await withStore(io, options.store, options.dryRun === true ? "read" : "change", async (store) => {
    const { session } = await chooseSession(store, io, out, args[0], options.dryRun === true ? "store" : "directory");
    if (options.undo === true) return undo(invocation, session);
    return options.dryRun === true ? dryRun(invocation, session) : compact(invocation, session);
  });
};

/** Options of a new compaction. */
const OF_COMPACTION = ["dryRun", "focus", "keep", "keepFrom", "preset", "window", "model", "baseUrl", "apiKeyEnv", "extract"] as const;

function checkOptions(options: CompactOptions): void {
  if (options.keep !== undefined && options.keepFrom !== undefined)
    throw new UsageError("--keep and --keep-from exclude each other. Choose one.");
  if (options.undo === true && OF_COMPACTION.some((name) => options[name] !== undefined))
    throw new UsageError("--undo cannot be combined with other options.");
}

async function compact({ io, out, options }: Invocation<CompactOptions>, session: Session): Promise<void> {
  const work = await summaryWork(io, session, options);
  const { model, window } = work;
  const keepFrom = await resolveKeepFrom(out, session, options);
  const done = await withProgressLine(io, out, model, ({ signal, onEvent }) =>
    withCompactor({ ...work.compactor, onEvent }, async (compactor) =>
      requireCompacted(await compactor.compact({ instructions: options.focus, keepFrom, signal })),
    ),
  );
  const report = await readReport(session, done, window, model);
  await printWarnings(out, options, model, done);
  if (options.json === true) return out.json(reportToJson(report));
  await out.lines(renderReport(report, out));
}

/** Resolves `--keep-from` to an entry on the path of the leaf. */
async function resolveKeepFrom(out: Printer, session: Session, { keepFrom }: CompactOptions): Promise<EntryId | undefined> {
  if (keepFrom === undefined) return undefined;
  const entryId = await resolveEntry(session, out, keepFrom);
  const { leafId } = session;
  if (leafId === null || (await session.tree.commonAncestor(entryId, leafId)) !== entryId)
    throw new UsageError(`--keep-from ${keepFrom} is not on the path of the leaf.`);
  return entryId;
}

/** Prints problems of a successful compaction to stderr. */
async function printWarnings(
  out: Printer,
  { focus }: CompactOptions,
  model: SummaryModel | null,
  { method, fidelity, failures }: CompactionDone,
): Promise<void> {
  const failure = method === "extract" || method === "marker" ? (model?.failure() ?? failures.at(-1)?.message) : undefined;
  if (failure !== undefined) await out.note(styled("error", `${model?.name ?? ""} failed, so no model wrote this summary: ${failure}`));
  if (focus !== undefined && method === "extract")
    await out.note(styled("error", "--focus has no effect on an extract; it needs a model."));
  if (fidelity !== null && fidelity.total > 0 && fidelity.score < LOW_SCORE)
    await out.note(styled("error", "The summary lacks most facts of its source; --undo undoes the compaction."));
}

/** Fidelity scores below this are reported. */
const LOW_SCORE = 0.3;

/** Throws an error for every other result, so that the exit code shows it to scripts. */
function requireCompacted(result: CompactionResult): CompactionDone {
  if (result.kind === "compacted") return result;
  throw errorOf(result);
}

function errorOf(result: Exclude<CompactionResult, CompactionDone>): Error {
  switch (result.kind) {
    case "nothing-to-compact":
      return new CommandError("NOTHING_TO_COMPACT", [describeCompaction(result, UNDO), REMEDIES[result.reason]].filter(Boolean).join(" "));
    case "cancelled":
      return new CancelledError(describeCompaction(result, UNDO));
    case "superseded":
      return new CommandError("SUPERSEDED", `${describeCompaction(result, UNDO)} Run the command again.`);
    case "deferred":
      return new CommandError("TURN_RUNNING", "The session is inside a turn; nothing was written.");
    case "failed":
      return result.error;
  }
}

/** The command that undoes a compaction. */
const UNDO = "bough compact --undo";

/** Hints for the user if there is nothing to compact, by reason. */
const REMEDIES: Readonly<Partial<Record<Extract<CompactionResult, { kind: "nothing-to-compact" }>["reason"], string>>> = {
  "just-compacted": "--undo undoes it; then compact again.",
  "all-is-kept": "--keep TOKENS keeps fewer.",
};

async function dryRun({ io, out, options }: Invocation<CompactOptions>, session: Session): Promise<void> {
  const keepFrom = await resolveKeepFrom(out, session, options);
  const { window, compactor: given } = await summaryWork(io, session, options);
  const plans: BeforeCompact[] = [];
  // The hook runs before anything is written, and cancels the compaction.
  const beforeCompact = (event: BeforeCompact) => {
    plans.push(event);
    return { cancel: true };
  };
  const report = await withCompactor({ ...given, summarizer: [], hooks: { beforeCompact } }, async (compactor) => {
    const result = await compactor.compact({ instructions: options.focus, keepFrom });
    if (result.kind === "compacted") throw new TypeError("a dry run compacted the session");
    const [planned] = plans;
    if (planned === undefined) throw errorOf(result);
    return measurePlan(planned, await compactor.usage());
  });
  if (options.json === true) return out.json({ sessionId: session.id, dryRun: true, plan: report, window });
  await out.lines(renderPlan(report, window));
}

/** Returns the format of the import that wrote the compaction in force; null: there is no compaction, or this store wrote it. */
async function findImporter(session: Session): Promise<string | null> {
  const { compaction } = await session.context();
  const { source } = await session.record();
  if (compaction === null || source === null || source === undefined) return null;
  const entry = await session.entry(compaction.entryId);
  // Entries of Bough name how they were written.
  return isSummary(entry) && extraField(entry, "method") === undefined ? source.format : null;
}

/** Asks before a compaction of another program is undone. @throws {CommandError} there is no terminal to ask on. */
async function confirmImported({ io, options }: Invocation<CompactOptions>, importer: string): Promise<void> {
  if (options.yes === true) return;
  const whose = `This compaction was made by ${importer} and came with the import`;
  if (io.ask === undefined) throw new CommandError("IMPORTED_COMPACTION", `${whose}. Add --yes to undo it.`);
  await confirm(io, `${whose}. Undo it`, "The context gets back what it summarizes; `bough undo` reverts this.");
}

async function undo(invocation: Invocation<CompactOptions>, session: Session): Promise<void> {
  const { out, options } = invocation;
  const previousLeafId = session.leafId;
  const importer = await findImporter(session);
  if (importer !== null) await confirmImported(invocation, importer);
  const window = await chooseWindow(session, undefined);
  const settings = compactionSettings(await loadConfig(invocation.io));
  await withCompactor({ session, contextWindow: window.tokens, settings }, async (compactor) => {
    const undone = await compactor.undoCompaction();
    if (undone.kind === "nothing-to-undo") throw new CommandError("NOTHING_TO_UNDO", "There is no active compaction at the leaf.");
    const { totalTokens } = await compactor.usage();
    const { compactionId, entryId } = undone;
    if (options.json === true) return out.json({ sessionId: session.id, compactionId, entryId, previousLeafId, tokens: totalTokens });
    out.line(styled("dim", "undone: "), compactionId, importer === null ? "" : styled("dim", ` (made by ${importer}, from the import)`));
    out.line(styled("dim", "context now: "), `${count(totalTokens)} tokens`);
    out.line(styled("dim", `Undo: ${out.command(`go ${session.id} ${previousLeafId ?? "--start"}`)}`));
  });
}

type CompactionReport = Awaited<ReturnType<typeof readReport>>;

/** A successful compaction, and what its report says beside it. */
async function readReport(session: Session, done: CompactionDone, window: WindowChoice, model: SummaryModel | null) {
  const entry = await session.entry(done.entryId);
  const files = entry.type === "compaction" ? summaryFiles(entry) : { readFiles: [], modifiedFiles: [] };
  return { session, done, window, model, files };
}

/** The report as JSON. */
function reportToJson({ session, done, files, window, model }: CompactionReport): Readonly<Record<string, unknown>> {
  const { kind: _kind, continuePrompt: _prompt, checkpointPath: _path, ...rest } = done;
  return { sessionId: session.id, ...rest, ...files, model: model?.name ?? null, modelFailure: model?.failure() ?? null, window };
}

/** The report as lines of text. */
function renderReport({ session, done, files, window, model }: CompactionReport, out: Printer): readonly Line[] {
  const { to } = out.glyphs;
  const saved = `${count(done.tokensBefore)} ${to} ${count(done.tokensAfter)} tokens, ${count(done.messagesBefore)} ${to} ${count(done.messagesAfter)} messages`;
  const fidelity = describeFidelity(done.fidelity);
  return [
    [styled("bold", "compacted: "), saved],
    ...(done.headroom ? [] : [[styled("error", "The kept messages still fill most of the context window.")]]),
    fieldLine("summary", done.title ?? done.shortSummary),
    fieldLine("written by", describeMethod(done.method, model)),
    ...(fidelity === null ? [] : [fieldLine("fidelity", fidelity)]),
    fieldLine("files", describeFiles(files)),
    fieldLine("window", describeWindow(window)),
    fieldLine("entry", done.entryId),
    [styled("dim", `Show it: ${out.command(`show ${session.id} ${done.entryId}`)}`)],
    [styled("dim", `Undo: ${out.command(`compact ${session.id} --undo`)}`)],
  ];
}

type PlanReport = ReturnType<typeof measurePlan>;
type Part = ReturnType<typeof measurePart>;

/** The plan of a compaction, printed by `--dry-run`: the entries, messages and tokens of each part. */
function measurePlan({ plan, previousSummary }: BeforeCompact, use: TokenUse) {
  return {
    kind: plan.kind,
    summarize: measurePart(plan.summarize),
    /** The first part of a turn whose second part is kept. */
    turnPrefix: measurePart(plan.prefix),
    keep: measurePart(plan.keep),
    /** null: nothing is kept. */
    firstKeptEntryId: plan.firstKeptEntryId,
    // The counted tokens, as in the report of a compaction; a reported usage comes from another tokenizer.
    tokensBefore: use.systemTokens + use.toolTokens + use.messageTokens,
    /** True if the active summary is updated with the entries since. */
    updatesSummary: previousSummary !== null,
  };
}

function measurePart(items: BeforeCompact["plan"]["keep"]) {
  return {
    entries: items.length,
    messages: items.reduce((sum, { messages }) => sum + messages.length, 0),
    tokens: items.reduce((sum, { tokens }) => sum + tokens, 0),
    fromEntryId: items[0]?.id ?? null,
    toEntryId: items.at(-1)?.id ?? null,
  };
}

/** The plan as lines of text. */
function renderPlan(report: PlanReport, window: WindowChoice): readonly Line[] {
  const { summarize, turnPrefix, keep, tokensBefore, updatesSummary } = report;
  return [
    [styled("bold", "Nothing was written."), " A compaction would:"],
    ...(summarize.entries === 0 ? [] : [fieldLine("summarize", describePart(summarize))]),
    ...(turnPrefix.entries === 0 ? [] : [fieldLine("summarize the start of a turn", describePart(turnPrefix))]),
    fieldLine("keep", keep.entries === 0 ? "nothing" : describePart(keep)),
    ...(updatesSummary ? [fieldLine("update", "the summary of the active compaction")] : []),
    fieldLine("context now", counted(tokensBefore, "token")),
    fieldLine("window", describeWindow(window)),
  ];
}

function describePart({ messages, tokens, fromEntryId, toEntryId }: Part): string {
  const range = fromEntryId === toEntryId ? (fromEntryId ?? "") : `${fromEntryId ?? ""} to ${toEntryId ?? ""}`;
  return `${counted(messages, "message")}, ${count(tokens)} tokens (${range})`;
}
