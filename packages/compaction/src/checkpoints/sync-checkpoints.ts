import { join } from "node:path";
import type { SessionId } from "@bough/session-core";
import { rules } from "@bough/session-core/internals";
import { CHECKPOINT, FOLDER } from "../arguments/shapes.js";
import type { Checkpoint } from "./checkpoint.js";
import { makeFolder, removeFile } from "./folder.js";
import type { ListedCheckpoint } from "./index-page.js";
import { listStored } from "./read-checkpoints.js";
import { addCheckpoint, type WrittenCheckpoint, writeIndex } from "./write-checkpoint.js";

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
  const stored = (await listStored(directory)).filter((one) => one.sessionId === sessionId);
  const agreed = agreeing(stored, checkpoints);
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
function agreeing(stored: readonly ListedCheckpoint[], wanted: readonly Checkpoint[]): number {
  const differs = stored.findIndex(({ entryId }, at) => entryId !== wanted[at]?.entryId);
  return differs === -1 ? stored.length : differs;
}
