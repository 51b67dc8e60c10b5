import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { parseServerUrl } from "@bough/postgres/address";
import {
  BackupDamagedError,
  openStore,
  type PackedStore,
  restoreStore,
  StoreDamagedError,
  StoreLockedError,
  StoreNotFoundError,
  type Violation,
} from "@bough/session-core";
import { bytes, counted } from "@bough/session-core/view";
import { CommandError, NoStoreError } from "../errors.js";
import { quotePath } from "../format/path.js";
import { resolveSession } from "../session/names.js";
import { withStore } from "../session/open-store.js";
import { keyOfStore, openWithAskedKey } from "../session/store-key.js";
import { fileAt, locateStore } from "../session/store-location.js";
import { requireNewFile } from "../session/write-file.js";
import type { Io } from "../terminal/io.js";
import { type Line, styled } from "../terminal/line.js";
import { type Command, type CommonOptions, confirm, requireArgument } from "./command.js";
import { withProgress } from "./progress.js";

/** `bough verify`: prints the integrity violations of the store or of one session. */
export const runVerify: Command = async ({ io, out, args: [name], options }) => {
  await withStore(io, options.store, "read", async (store, { name: place }) => {
    const sessionId = name === undefined ? undefined : (await resolveSession(store, io, out, name)).id;
    const violations: Violation[] = [];
    for await (const violation of store.verify(sessionId)) {
      violations.push(violation);
      if (options.json !== true) out.line(...renderViolation(violation));
      await out.pump();
    }
    if (options.json === true) out.json({ findings: violations });
    if (violations.length > 0) throw new CommandError("FINDINGS", `${counted(violations.length, "integrity violation")} in ${place}.`);
    if (options.json !== true) out.line(`No integrity violations in ${sessionId === undefined ? place : `session ${sessionId}`}.`);
  });
};

function renderViolation({ rule, sessionId, entryId, message }: Violation): Line {
  const location = [sessionId, entryId].filter((id) => id !== null).join(" ");
  return [styled("error", rule), location === "" ? "" : `  ${location}`, `  ${message}`];
}

/** `bough backup`: copies the store to a new file. Other processes can use the store meanwhile. */
export const runBackup: Command<{ readonly dryRun?: boolean }> = async ({ io, out, args: [file], options }) => {
  const path = resolve(io.cwd, requireArgument(file));
  await requireFile(io, options, ({ server, schema }) => `pg_dump --format=custom --schema=${schema} --file=${quotePath(path)} ${server}`);
  await withStore(io, options.store, "read", async (store, { name: place }) => {
    if (options.dryRun === true) {
      await requireNewFile(path, false);
      if (options.json === true) return out.json({ file: path, bytes: null });
      return out.line(`would copy ${place} to ${path}`);
    }
    await withProgress(io, out, { operation: "copying", cancelled: "Cancelled. No backup was written." }, (progress, signal) =>
      store.backup(path, (done, total) => progress.update(done, total, "pages"), signal),
    );
    const { size } = await stat(path);
    if (options.json === true) return out.json({ file: path, bytes: size });
    out.line(`${bytes(size)} copied to ${path}`);
  });
};

/** `bough pack`: compresses the payloads of the store and returns free pages. Other processes can use the store meanwhile. */
export const runPack: Command = async ({ io, out, options }) => {
  await requireFile(io, options, ({ server, schema }) => `vacuumdb --full --schema=${schema} ${server}`);
  await withStore(io, options.store, "change", async (store, { name: place }) => {
    const cancelled = "Interrupted. What was packed stays packed; run the command again for the rest.";
    const packed = await withProgress(io, out, { operation: "packing", cancelled }, (progress, signal) =>
      store.pack({ signal, onProgress: (done, total) => progress.update(done, total, counted(done, "entry", "entries")) }),
    );
    if (options.json === true) return out.json({ store: place, ...packed });
    out.line(describePacked(packed, place));
  });
};

function describePacked({ entries, bytesBefore, bytesAfter }: PackedStore, path: string): string {
  const saved = bytesBefore - bytesAfter;
  const size = saved > 0 ? `${bytes(bytesBefore)} before, ${bytes(bytesAfter)} now, ${bytes(saved)} saved` : bytes(bytesAfter);
  return `${counted(entries, "entry", "entries")} packed in ${path}: ${size}.`;
}

/** A store on a server, as arguments of PostgreSQL's programs, in quotes where a shell needs them. */
interface ServerStore {
  readonly server: string;
  readonly schema: string;
}

/** The path of the store's file. @throws {CommandError} the store is on a server, where `command` does the same. */
export async function requireFile(io: Io, options: CommonOptions, command: (store: ServerStore) => string): Promise<string> {
  const { isServer, address } = await locateStore(io, options.store);
  if (!isServer) return address;
  const { label, schema = "bough" } = parseServerUrl(address);
  const line = command({ server: quotePath(label), schema: quotePath(schema) });
  throw new CommandError("NOT_ON_SERVER", `The store is on a server, which does this itself: ${line}. Nothing was done.`);
}

/** `bough restore`: replaces the store by a backup, after a confirmation. The old store is renamed and kept. */
export const runRestore: Command<{ readonly yes?: boolean; readonly dryRun?: boolean }> = async ({ io, out, args: [file], options }) => {
  const backup = resolve(io.cwd, requireArgument(file));
  const path = await requireFile(io, options, ({ server }) => `pg_restore --clean --if-exists --dbname=${server} ${quotePath(backup)}`);
  const { key, content } = await readBackup(io, backup, await keyOfStore(io, fileAt(path)));
  const change = `${path} by ${backup}, ${content}`;
  if (options.dryRun === true) return options.json === true ? out.json({ path, keptAt: null }) : out.line(`would replace ${change}`);
  if (options.yes !== true) await confirm(io, `Replace ${change}`, "The old store is kept in the same folder.");
  const cancelled = "Cancelled. Nothing was replaced.";
  const restored = await withProgress(io, out, { operation: "restoring", cancelled }, (progress, signal) =>
    restoreStore({ backup, path, key, signal, onProgress: (done, total) => progress.update(done, total, "pages") }),
  );
  if (options.json === true) return out.json(restored);
  out.line(`replaced: ${change}`);
  if (restored.keptAt !== null) out.line(`the old store is now ${restored.keptAt}`);
};

/** The content of a backup, and its key; asks for the key of a locked one if none was given. */
async function readBackup(io: Io, backup: string, given: string | undefined): Promise<{ key: string | undefined; content: string }> {
  try {
    return { key: given, content: await describeBackup(backup, given) };
  } catch (error) {
    if (error instanceof StoreNotFoundError)
      throw new NoStoreError(`There is no backup at ${backup}: the file is missing or empty. Check the path.`, { cause: error });
    if (error instanceof StoreDamagedError) throw new BackupDamagedError(backup, "SQLite cannot read it", { cause: error });
    const typed =
      error instanceof StoreLockedError
        ? await openWithAskedKey(io, fileAt(backup), async (key) => ({ key, content: await describeBackup(backup, key) }))
        : undefined;
    if (typed === undefined) throw error;
    return typed;
  }
}

async function describeBackup(backup: string, key: string | undefined): Promise<string> {
  const store = await openStore({ path: backup, key, mode: "read-only" });
  const { sessions, entries } = await store.statistics().finally(() => store.close());
  return `${counted(sessions, "session", "sessions")} with ${counted(entries, "entry", "entries")}`;
}
