import { resolve } from "node:path";
import { type Checkpoint, writeCheckpoint } from "@bough/compaction";
import type { EntryId, Session } from "@bough/session-core";
import { count, counted, describeFidelity, isSummary, readableSummary } from "@bough/session-core/view";
import { CommandError, UsageError } from "../errors.js";
import { textLines } from "../format/entry-lines.js";
import { type ItemColumn, printTable } from "../format/table.js";
import { dateTime } from "../format/time.js";
import { chooseSession } from "../session/choose-session.js";
import { describeFiles } from "../session/compaction-text.js";
import { resolveEntry } from "../session/names.js";
import { withStore } from "../session/open-store.js";
import { extraField, type ListedSummary, listSummaries, type Summaries, type SummaryEntry, toListedSummary } from "../session/summaries.js";
import type { Glyphs } from "../terminal/glyphs.js";
import { fieldLine, type Line, styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { loadExactWidths } from "../terminal/width.js";
import { type Command, type CommonOptions, type Invocation, requireArgument } from "./command.js";

interface CheckpointsOptions extends CommonOptions {
  readonly all?: boolean;
  readonly write?: string;
  readonly dryRun?: boolean;
}

/** `bough checkpoints`: lists the summaries of a session, prints one, or writes the checkpoints to files. */
export const runCheckpoints: Command<CheckpointsOptions> = async (invocation) => {
  const { io, out, args, options } = invocation;
  const [name, which] = args;
  if (options.write !== undefined && (which !== undefined || options.all === true))
    throw new UsageError("--write writes every checkpoint of the leaf's path; it cannot be combined with a number or --all.");
  if (options.dryRun === true && options.write === undefined)
    throw new UsageError("--dry-run needs --write DIRECTORY; without it nothing is written.");
  await withStore(io, options.store, "read", async (store) => {
    await loadExactWidths();
    const { session } = await chooseSession(store, io, out, name, "store");
    const summaries = await listSummaries(session, options.all === true);
    if (which !== undefined) return printOne(invocation, session, summaries, which);
    return options.write === undefined ? printList(invocation, session, summaries) : writeFiles(invocation, session, summaries);
  });
};

async function printList({ out, options }: Invocation<CheckpointsOptions>, session: Session, { listed }: Summaries): Promise<void> {
  if (options.json === true) return out.json({ sessionId: session.id, checkpoints: listed });
  if (listed.length === 0) return printNone(out, session);
  await printTable(out, COLUMNS, listed);
  out.line(
    styled(
      "dim",
      `${counted(listed.length, "summary", "summaries")}. To print one: ${out.command(`checkpoints ${session.id} NUMBER`)}, or the id of its entry`,
    ),
  );
}

function printNone(out: Printer, session: Session): void {
  out.line("No checkpoints yet. A compaction creates one: ", styled("bold", out.command(`compact ${session.id}`)));
}

async function printOne(
  { out, options }: Invocation<CheckpointsOptions>,
  session: Session,
  { checkpoints, listed }: Summaries,
  which: string,
): Promise<void> {
  const entry = await session.entry(await resolveSummary(out, session, checkpoints, which));
  if (!isSummary(entry))
    throw new UsageError(`${entry.id} is not a summary. To print it: ${out.command(`show ${session.id} ${entry.id}`)}`);
  const checkpoint = checkpoints.find(({ entryId }) => entryId === entry.id);
  const one = listed.find(({ entryId }) => entryId === entry.id) ?? toListedSummary(entry, checkpoint, false);
  if (options.json === true) return out.json({ sessionId: session.id, checkpoint: { ...one, covers: checkpoint?.covers ?? null, entry } });
  await out.lines(renderSummary(out.glyphs, one, entry, checkpoint));
}

/** A number selects a checkpoint; any other text selects an entry. */
async function resolveSummary(out: Printer, session: Session, checkpoints: readonly Checkpoint[], which: string): Promise<EntryId> {
  if (!/^\d{1,6}$/.test(which)) return resolveEntry(session, out, requireArgument(which));
  const found = checkpoints.find(({ number }) => number === Number(which));
  if (found !== undefined) return found.entryId;
  const range = checkpoints.length === 0 ? "it has no checkpoints" : `checkpoints are numbered from 1 to ${checkpoints.length}`;
  throw new CommandError("CHECKPOINT_NOT_FOUND", `The leaf's path of ${session.id} has no checkpoint ${which}: ${range}.`);
}

async function writeFiles(
  { io, out, options }: Invocation<CheckpointsOptions>,
  session: Session,
  { checkpoints }: Summaries,
): Promise<void> {
  const directory = resolve(io.cwd, requireArgument(options.write));
  if (options.dryRun === true) {
    const files = checkpoints.map(({ number, entryId }) => ({ number, entryId, path: null }));
    if (options.json === true) return out.json({ sessionId: session.id, directory, files });
    return out.line(`would write ${counted(checkpoints.length, "checkpoint")} to ${directory}`);
  }
  const files: { readonly number: number; readonly entryId: EntryId; readonly path: string }[] = [];
  // Sequential, so that the file numbers follow the order of the checkpoints.
  for (const checkpoint of checkpoints) files.push({ entryId: checkpoint.entryId, ...(await writeCheckpoint(directory, checkpoint)) });
  if (options.json === true) return out.json({ sessionId: session.id, directory, files });
  if (files.length === 0) return printNone(out, session);
  for (const { path } of files) out.line(path);
  out.line(styled("dim", `${counted(files.length, "checkpoint")}; index.md lists them`));
}

const COLUMNS: readonly ItemColumn<ListedSummary>[] = [
  { heading: "no.", align: "right", cell: ({ number }) => [number === null ? "" : String(number)] },
  { heading: "created", optional: true, cell: ({ createdAtMs }) => [styled("dim", dateTime(createdAtMs))] },
  { heading: "title", shrinksTo: 20, cell: ({ title }) => [styled("summary", title)] },
  { heading: "trigger", optional: true, cell: (summary) => [describeReason(summary)] },
  { heading: "tokens", align: "right", cell: (summary, { glyphs }) => [describeTokens(summary, glyphs.to)] },
  { heading: "messages", align: "right", optional: true, cell: ({ messages }) => [messages === null ? "" : count(messages)] },
  { heading: "files", align: "right", optional: true, cell: (summary) => [countFiles(summary)] },
  { heading: "entry", shrinksTo: 8, optional: true, cell: ({ entryId }) => [styled("dim", entryId)] },
];

function countFiles({ readFiles, modifiedFiles }: ListedSummary): string {
  const files = readFiles.length + modifiedFiles.length;
  return files === 0 ? "" : count(files);
}

function describeReason({ kind, number, onPath, trigger }: ListedSummary): string {
  if (kind === "branch summary") return "abandoned branch";
  if (onPath && number === null) return "undone";
  return trigger ?? "";
}

function describeTokens({ tokensBefore, tokensAfter }: ListedSummary, to: string): string {
  if (tokensBefore === null && tokensAfter === null) return "";
  return `${tokensBefore === null ? "?" : count(tokensBefore)} ${to} ${tokensAfter === null ? "?" : count(tokensAfter)}`;
}

/** Renders one summary: its data, then its text. */
function renderSummary({ to }: Glyphs, listed: ListedSummary, entry: SummaryEntry, checkpoint: Checkpoint | undefined): readonly Line[] {
  const { number, kind, entryId, title, createdAtMs, messages, readFiles, modifiedFiles } = listed;
  const covers = checkpoint?.covers;
  const tokens = describeTokens(listed, to);
  const reason = describeReason(listed);
  return [
    [styled("bold", title)],
    fieldLine(
      kind,
      `${number === null ? "" : `no. ${number}, `}entry ${entryId}, created ${dateTime(createdAtMs)}${reason === "" ? "" : ` (${reason})`}`,
    ),
    ...(messages === null ? [] : [fieldLine("summarizes", counted(messages, "message"))]),
    ...(covers === null || covers === undefined
      ? []
      : [fieldLine("entries", `${count(covers.entries)}, ${covers.fromEntryId} to ${covers.toEntryId}`)]),
    ...(tokens === "" ? [] : [fieldLine("tokens", tokens)]),
    ...renderQuality(entry),
    fieldLine("files", describeFiles({ readFiles, modifiedFiles })),
    ...readFiles.map((path): Line => [styled("dim", "  read "), path]),
    ...modifiedFiles.map((path): Line => [styled("dim", "  modified "), path]),
    [],
    ...textLines(readableSummary(entry.summary)),
  ];
}

function renderQuality(entry: SummaryEntry): readonly Line[] {
  const method = extraField(entry, "method");
  const described = describeFidelity(extraField(entry, "fidelity"));
  return [
    ...(typeof method === "string" ? [fieldLine("method", method)] : []),
    ...(described === null ? [] : [fieldLine("fidelity", described)]),
  ];
}
