import { join } from "node:path";
import type { SessionId } from "@bough/session-core";
import { rules } from "@bough/session-core/internals";
import { CHECKPOINT, FOLDER } from "../arguments/shapes.js";
import { CheckpointError } from "../errors/compaction-errors.js";
import { type Checkpoint, formatCheckpoint, makeClaimName, makeFileName, parseFileNumber } from "./checkpoint.js";
import { createFile, listNames, makeFolder, moveFile, removeFile, removeLeftovers, replaceFile } from "./folder.js";
import { formatIndex, INDEX_NAME, type ListedCheckpoint, listStoredCheckpoints } from "./read-checkpoints.js";

/** Where a checkpoint was written. */
export interface WrittenCheckpoint {
  /** The number in the file's name: one more than the highest in the folder, whoever wrote that. */
  readonly number: number;
  readonly path: string;
}

/** So many numbers in a row held by others are no coincidence: something else is wrong with the folder. */
const MAX_TRIES = 1_000;

/**
 * Writes a checkpoint as `NNN-title.md` and brings `index.md` up to date (Copilot CLI's files). The folder is made where
 * it is missing. A checkpoint that is there already is not written again. Never overwrites a checkpoint: of several
 * processes that write at once, each gets a number of its own. A crash leaves at most a hidden `.tmp` file, which goes with the
 * first checkpoint that is written an hour later. Cost: `stat` of each file in the folder; each is read once in the life of
 * the process, and again only where it changed.
 *
 * @throws {CheckpointError} nothing was written, or only the index could not be.
 *
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

/** The same without the index. */
async function addCheckpoint(directory: string, checkpoint: Checkpoint): Promise<WrittenCheckpoint> {
  const text = formatCheckpoint(checkpoint);
  await removeLeftovers(directory);
  let number = findHighest(await listNames(directory)) + 1;
  for (let tries = 0; tries < MAX_TRIES; tries += 1, number += 1) {
    const path = await tryWrite(directory, number, makeFileName(number, checkpoint.title), text);
    if (path !== null) return { number, path };
  }
  throw new CheckpointError(directory, "write", `the numbers up to ${number - 1} are all held by others`);
}

/** The path of the file; null: the number is another writer's. */
async function tryWrite(directory: string, number: number, name: string, text: string): Promise<string | null> {
  const claim = join(directory, makeClaimName(number));
  if (!(await createFile(claim, text))) return null;
  // While the claim is there nobody else takes the number. But somebody may have taken it, and been done with it, since
  // the folder was read.
  if ((await listNames(directory)).some((other) => parseFileNumber(other) === number)) {
    await removeFile(claim);
    return null;
  }
  const path = join(directory, name);
  // false: this process stood still for so long that its file was taken for what a crash left.
  return (await moveFile(claim, path)) ? path : null;
}

function findHighest(names: readonly string[]): number {
  return names.reduce((most, name) => Math.max(most, parseFileNumber(name) ?? 0), 0);
}

/** How often the index is written again because a file came or went meanwhile. */
const MAX_REWRITES = 20;

/**
 * Writes the index from the files that are there. Several processes may do so at once: whoever is last looks whether it
 * still says what is there.
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

/** What was done to a folder. */
export interface SyncedCheckpoints {
  readonly written: readonly WrittenCheckpoint[];
  /** Paths of the files that were removed. */
  readonly removed: readonly string[];
}

/**
 * Makes a folder hold exactly these checkpoints of a session, in their order: after the session was rewound or its branch
 * changed, what lies beyond goes; a fork's folder gets the ones it shares (Copilot CLI's rule, row 136). Files that agree
 * stay as they are. Only files that say in their front part that they are of this session are removed; those of other
 * sessions and of other programs are left alone. Two agents on two branches of one session need a folder each.
 *
 * @throws {CheckpointError} what was done until then stays; doing it again completes it.
 *
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

/** How many files, from the first, are those that are wanted. */
function countMatching(stored: readonly ListedCheckpoint[], wanted: readonly Checkpoint[]): number {
  const differs = stored.findIndex(({ entryId }, at) => entryId !== wanted[at]?.entryId);
  return differs === -1 ? stored.length : differs;
}
