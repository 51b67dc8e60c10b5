import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { BackupDamagedError, type Finding, openStore, restoreStore, StoreDamagedError, StoreNotFoundError } from "@bough/session-core";
import { CancelledError, ConfirmationNeededError, DeclinedError, NoStoreError, ViolationsError } from "../errors.js";
import { bytes, counted } from "../format/numbers.js";
import { resolveStorePath, withStore } from "../session/open-store.js";
import type { Io } from "../terminal/io.js";
import { type Line, styled } from "../terminal/line.js";
import { safe } from "../terminal/safe.js";
import { type Command, type CommonOptions, requireArgument } from "./command.js";
import { startProgress } from "./progress.js";

/** `bough verify`: everything that does not hold in the store, or in one session. */
export const runVerify: Command = async ({ io, out, args: [name], options }) => {
  await withStore(io, options.store, "read", async (store, path) => {
    const sessionId = name === undefined ? undefined : (await store.resolveSession(name)).id;
    const findings: Finding[] = [];
    for await (const finding of store.verify(sessionId)) {
      findings.push(finding);
      if (options.json !== true) out.line(...findingLine(finding));
      await out.pump();
    }
    if (options.json === true) out.json({ findings });
    if (findings.length > 0) throw new ViolationsError(`${counted(findings.length, "thing does", "things do")} not hold in ${path}.`);
    if (options.json !== true) out.line(`Everything holds in ${sessionId === undefined ? path : `session ${sessionId}`}.`);
  });
};

function findingLine({ rule, sessionId, entryId, message }: Finding): Line {
  const where = [sessionId, entryId].filter((id) => id !== null).join(" ");
  return [styled("error", rule), where === "" ? "" : `  ${where}`, `  ${message}`];
}

/** `bough backup`: copies the store into a new file while it is in use. */
export const runBackup: Command = async ({ io, out, args: [file], options }) => {
  const path = resolve(io.cwd, requireArgument(file));
  await withStore(io, options.store, "read", async (store) => {
    const progress = await startProgress(io, out, "copying");
    const { signal, end } = io.cancelOnInterrupt();
    try {
      await store.backup(path, (done, total) => progress.update(done, total, "pages"), signal);
    } catch (error) {
      if (signal.aborted) throw new CancelledError("Cancelled. No backup was left.", { cause: error });
      throw error;
    } finally {
      progress.end();
      end();
    }
    const { size } = await stat(path);
    if (options.json === true) return out.json({ file: path, bytes: size });
    out.line(`${bytes(size)} copied to ${path}`);
  });
};

interface RestoreCommandOptions extends CommonOptions {
  readonly yes?: boolean;
}

/** `bough restore`: puts a backup in the place of the store, which is kept beside it; asks first. */
export const runRestore: Command<RestoreCommandOptions> = async ({ io, out, args: [file], options }) => {
  const backup = resolve(io.cwd, requireArgument(file));
  const { path } = resolveStorePath(io, options.store);
  const what = `${path} by ${backup}, ${await describeBackup(backup)}`;
  if (options.yes !== true) await confirm(io, what);
  const progress = await startProgress(io, out, "restoring");
  const { signal, end } = io.cancelOnInterrupt();
  try {
    const restored = await restoreStore({ backup, path, signal, onProgress: (done, total) => progress.update(done, total, "pages") });
    progress.end();
    if (options.json === true) return out.json(restored);
    out.line(`restored: ${what}`);
    if (restored.keptAt !== null) out.line(`the store that was there is kept at ${restored.keptAt}`);
  } catch (error) {
    if (signal.aborted) throw new CancelledError("Cancelled. Nothing was replaced.", { cause: error });
    throw error;
  } finally {
    progress.end();
    end();
  }
};

async function describeBackup(backup: string): Promise<string> {
  try {
    const store = await openStore({ path: backup, mode: "read-only" });
    const { sessions, entries } = await store.statistics().finally(() => store.close());
    return `${counted(sessions, "session", "sessions")} with ${counted(entries, "entry", "entries")}`;
  } catch (error) {
    if (error instanceof StoreNotFoundError)
      throw new NoStoreError(`There is no backup at ${backup}: the file is missing or empty. Check the path.`, { cause: error });
    if (error instanceof StoreDamagedError) throw new BackupDamagedError(backup, "SQLite cannot read it", { cause: error });
    throw error;
  }
}

async function confirm(io: Io, what: string): Promise<void> {
  if (io.ask === undefined) throw new ConfirmationNeededError(`This would replace ${what}. Add --yes to do it.`);
  const answer = await io.ask(`Replace ${safe(what)}? What is there now is kept beside it. [y/N] `);
  if (!/^y(es)?$/i.test(answer?.trim() ?? "")) throw new DeclinedError("Nothing was replaced.");
}
