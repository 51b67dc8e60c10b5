import { resolve } from "node:path";
import { type Checkpoint, writeCheckpoint } from "@bough/compaction";
import type { EntryId, Session } from "@bough/session-core";
import { isSummary, listedSummary, type Summaries, summariesOf } from "../compacting/summaries.js";
import { summaryInFull, summaryTable } from "../compacting/summary-lines.js";
import { CheckpointNotFoundError, UsageError } from "../errors.js";
import { counted } from "../format/numbers.js";
import { withStore } from "../place/open.js";
import { chooseSession } from "../place/session-choice.js";
import { styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { loadExactWidths } from "../terminal/width.js";
import { type Command, type CommonOptions, type Invocation, required } from "./command.js";

interface CheckpointsOptions extends CommonOptions {
  readonly all?: boolean;
  readonly write?: string;
}

/** `bough checkpoints`: the summaries of a session, one of them, or all of them as files. */
export const run: Command<CheckpointsOptions> = async (invocation) => {
  const { io, out, args, options } = invocation;
  const [name, which] = args;
  if (options.write !== undefined && (which !== undefined || options.all === true))
    throw new UsageError("--write writes every checkpoint of the leaf's path: give it no number and no --all.");
  await withStore(io, options.store, "read", async (store) => {
    await loadExactWidths();
    const { session } = await chooseSession(store, io, out, name, "store");
    const summaries = await summariesOf(session, options.all === true);
    if (which !== undefined) return showOne(invocation, session, summaries, which);
    return options.write === undefined ? list(invocation, session, summaries) : write(invocation, session, summaries);
  });
};

async function list({ out, options }: Invocation<CheckpointsOptions>, session: Session, { listed }: Summaries): Promise<void> {
  if (options.json === true) return out.json({ sessionId: session.id, checkpoints: listed });
  if (listed.length === 0) return sayNone(out, session);
  for (const line of await summaryTable(out, listed)) out.line(...line);
  out.line(
    styled("dim", `${counted(listed.length, "summary", "summaries")}. Read one: bough checkpoints ${session.id} NUMBER, or its entry`),
  );
}

/** Empty is not the same as broken (regression R190). */
function sayNone(out: Printer, session: Session): void {
  out.line("No checkpoints yet. One is made when a context is compacted: ", styled("bold", `bough compact ${session.id}`));
}

async function showOne(
  { out, options }: Invocation<CheckpointsOptions>,
  session: Session,
  { checkpoints, listed }: Summaries,
  which: string,
): Promise<void> {
  const entry = await session.entry(await entryOf(session, checkpoints, which));
  if (!isSummary(entry))
    throw new UsageError(`${entry.id} is no summary but an entry of another kind: bough show ${session.id} ${entry.id}`);
  const checkpoint = checkpoints.find(({ entryId }) => entryId === entry.id);
  const one = listed.find(({ entryId }) => entryId === entry.id) ?? listedSummary(entry, checkpoint, false);
  if (options.json === true) return out.json({ sessionId: session.id, checkpoint: { ...one, covers: checkpoint?.covers ?? null, entry } });
  for (const line of summaryInFull(out.glyphs, one, entry, checkpoint)) out.line(...line);
}

/** A number is that of a checkpoint; anything else names an entry. */
async function entryOf(session: Session, checkpoints: readonly Checkpoint[], which: string): Promise<EntryId> {
  if (!/^\d{1,6}$/.test(which)) return session.resolve(required(which));
  const found = checkpoints.find(({ number }) => number === Number(which));
  if (found !== undefined) return found.entryId;
  const there = checkpoints.length === 0 ? "it has none" : `they go from 1 to ${checkpoints.length}`;
  throw new CheckpointNotFoundError(`No checkpoint ${which} on the leaf's path of ${session.id}: ${there}.`);
}

async function write({ io, out, options }: Invocation<CheckpointsOptions>, session: Session, { checkpoints }: Summaries): Promise<void> {
  const directory = resolve(io.cwd, required(options.write));
  const files: { readonly number: number; readonly entryId: EntryId; readonly path: string }[] = [];
  // One after the other: the numbers of the files are to be in the order of the checkpoints.
  for (const checkpoint of checkpoints) files.push({ entryId: checkpoint.entryId, ...(await writeCheckpoint(directory, checkpoint)) });
  if (options.json === true) return out.json({ sessionId: session.id, directory, files });
  if (files.length === 0) return sayNone(out, session);
  for (const { path } of files) out.line(path);
  out.line(styled("dim", `${counted(files.length, "checkpoint")}; index.md lists them`));
}
