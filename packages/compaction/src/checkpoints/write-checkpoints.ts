import { join } from "node:path";
import type { SessionId } from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import { CHECKPOINT, FOLDER } from "../arguments/shapes.js";
import { CheckpointError } from "../errors/compaction-errors.js";
import { type Checkpoint, formatCheckpoint, makeClaimName, makeFileName, parseFileNumber } from "./checkpoint.js";
import { createFile, listNames, makeFolder, moveFile, removeFile, removeLeftovers, replaceFile } from "./folder.js";
import { formatIndex, INDEX_NAME, type ListedCheckpoint, listStoredCheckpoints } from "./read-checkpoints.js";

/** A written checkpoint. */
export interface WrittenCheckpoint {
  /** The number in the file name: one more than the highest in the folder. */
  readonly number: number;
  readonly path: string;
}

/** The changes to a folder. */
export interface SyncedCheckpoints {
  readonly written: readonly WrittenCheckpoint[];
  /** Paths of the removed files. */
  readonly removed: readonly string[];
}

/** The most taken numbers that a write skips; after these it considers the folder broken. */
const MAX_TRIES = 1_000;

/**
 * Writes a checkpoint as `NNN-title.md` and updates `index.md`. Creates the folder if necessary. A checkpoint that the
 * folder contains already is not written again, and no file is overwritten: several processes that write at once get
 * different numbers. A crash leaves at most a hidden `.tmp` file, which the first write an hour later removes. Cost: a
 * `stat` of each file in the folder; each file is read once by a process, and again only if it changed.
 *
 * @throws {CheckpointError} nothing was written, or only the index could not be written.
 * @example
 * const { path } = await writeCheckpoint("work/checkpoints", checkpoint); // "work/checkpoints/003-mending-the-parser.md"
 */
export async function writeCheckpoint(directory: string, checkpoint: Checkpoint): Promise<WrittenCheckpoint> {
  rules.checkArgument("directory", directory, FOLDER);
  rules.checkArgument("checkpoint", checkpoint, CHECKPOINT);
  await makeFolder(directory);
  const checkpoints = await listStoredCheckpoints(directory);
  const there = checkpoints.find(({ sessionId, entryId }) => sessionId === checkpoint.sessionId && entryId === checkpoint.entryId);
  const written =
    there === undefined ? await addCheckpoint(directory, checkpoint) : { number: there.number, path: join(directory, there.name) };
  await writeIndex(directory);
  return written;
}

/**
 * Makes a folder contain exactly these checkpoints of a session, in order. After a navigation, checkpoints that are not
 * on the path are removed; the folder of a fork gets the shared ones. Matching files are not changed. Only files of this
 * session, according to their front matter, are removed. Two agents on two branches of one session need separate folders.
 *
 * @throws {CheckpointError} the changes made so far remain; calling it again completes them.
 * @example
 * await session.moveLeaf(earlier);
 * await syncCheckpoints("work/checkpoints", session.id, await listCheckpoints(session));
 */
export async function syncCheckpoints(
  directory: string,
  sessionId: SessionId,
  checkpoints: readonly Checkpoint[],
): Promise<SyncedCheckpoints> {
  rules.checkArgument("directory", directory, FOLDER);
  rules.checkArgument("sessionId", sessionId, rules.TEXT);
  rules.checkArgument("checkpoints", checkpoints, rules.list(CHECKPOINT, "an array of checkpoints"));
  await makeFolder(directory);
  const stored = (await listStoredCheckpoints(directory)).filter((one) => one.sessionId === sessionId);
  const agreed = countMatching(stored, checkpoints);
  const removed: string[] = [];
  for (const { name } of stored.slice(agreed)) {
    const path = join(directory, name);
    await removeFile(path);
    removed.push(path);
  }
  const written: WrittenCheckpoint[] = [];
  for (const checkpoint of checkpoints.slice(agreed)) written.push(await addCheckpoint(directory, checkpoint));
  await writeIndex(directory);
  return { written, removed };
}

/** The number of files, from the first, that match the wanted checkpoints. */
function countMatching(stored: readonly ListedCheckpoint[], wanted: readonly Checkpoint[]): number {
  const differs = stored.findIndex(({ entryId }, at) => entryId !== wanted[at]?.entryId);
  return differs === -1 ? stored.length : differs;
}

/** Writes a checkpoint without updating the index. */
async function addCheckpoint(directory: string, checkpoint: Checkpoint): Promise<WrittenCheckpoint> {
  const text = formatCheckpoint(checkpoint);
  await removeLeftovers(directory);
  let number = findHighest(await listNames(directory)) + 1;
  for (let tries = 0; tries < MAX_TRIES; tries += 1, number += 1) {
    const path = await tryWrite(directory, number, makeFileName(number, checkpoint.title), text);
    if (path !== null) return { number, path };
  }
  throw new CheckpointError(directory, "write", `the numbers up to ${number - 1} are all taken`);
}

/** The path of the file; null: another process has the number. */
async function tryWrite(directory: string, number: number, name: string, text: string): Promise<string | null> {
  const claim = join(directory, makeClaimName(number));
  if (!(await createFile(claim, text))) return null;
  // While the claim exists no other process takes the number. Another process may have taken and released it since the
  // folder was read.
  if ((await listNames(directory)).some((other) => parseFileNumber(other) === number)) {
    await removeFile(claim);
    return null;
  }
  const path = join(directory, name);
  // false: this process was suspended for so long that another one removed its temporary file.
  return (await moveFile(claim, path)) ? path : null;
}

function findHighest(names: readonly string[]): number {
  return names.reduce((most, name) => Math.max(most, parseFileNumber(name) ?? 0), 0);
}

/** The most rewrites of the index because files were added or removed concurrently. */
const MAX_REWRITES = 20;

/**
 * Writes the index from the existing files. Several processes may do so at once: each checks afterwards whether its index
 * is still complete.
 */
async function writeIndex(directory: string): Promise<void> {
  for (let tries = 0; tries < MAX_REWRITES; tries += 1) {
    const before = await readNumberedNames(directory);
    await replaceFile(directory, INDEX_NAME, formatIndex(await listStoredCheckpoints(directory)));
    if ((await readNumberedNames(directory)) === before) return;
  }
}

async function readNumberedNames(directory: string): Promise<string> {
  return (await listNames(directory)).filter((name) => parseFileNumber(name) !== null).join("/");
}
