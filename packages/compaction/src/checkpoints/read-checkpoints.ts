import { join, resolve } from "node:path";
import { rules } from "@bough/session-core/internals";
import { FOLDER } from "../arguments/shapes.js";
import { readCheckpointText } from "./checkpoint-file.js";
import { numberInName } from "./file-name.js";
import { namesIn, readText, stampOf } from "./folder.js";
import { INDEX_NAME, type ListedCheckpoint, type StoredCheckpoint } from "./index-page.js";

/** A file in the folder that is no checkpoint of ours. It is left alone. */
export interface ForeignFile {
  readonly name: string;
  /** One line; a part of it is text from the file. */
  readonly problem: string;
}

/** What is in a folder of checkpoints. */
export interface StoredCheckpoints {
  /** By number, then by name. */
  readonly checkpoints: readonly StoredCheckpoint[];
  readonly foreign: readonly ForeignFile[];
}

/**
 * Reads the checkpoints in a folder; none where the folder does not exist. Files of other programs and damaged ones are
 * named and left alone. Cost: one read of each file.
 *
 * @throws {CheckpointError} the folder cannot be read.
 */
export async function readCheckpoints(directory: string): Promise<StoredCheckpoints> {
  rules.checkArgument("directory", directory, FOLDER);
  const checkpoints: StoredCheckpoint[] = [];
  const foreign: ForeignFile[] = [];
  for (const name of await namesIn(directory)) {
    // The list itself, and what is being written.
    if (name === INDEX_NAME || name.startsWith(".")) continue;
    const read = await readOne(directory, name);
    if (typeof read === "string") foreign.push({ name, problem: read });
    else if (read !== null) checkpoints.push(read);
  }
  return { checkpoints: checkpoints.sort((a, b) => a.number - b.number), foreign };
}

/** What a file held when it had this stamp; null: no checkpoint. */
interface KnownFile {
  readonly stamp: string;
  readonly listed: ListedCheckpoint | null;
}

/** Folders whose files are known, the one that was listed last at the end. */
const knownFolders = new Map<string, ReadonlyMap<string, KnownFile>>();
const MOST_FOLDERS = 8;

/**
 * The checkpoints in a folder without their summaries, by number, then by name. Cost: a `stat` of each file, and a read of
 * those that changed since this process last listed the folder.
 *
 * @throws {CheckpointError} the folder cannot be read.
 */
export async function listStored(directory: string): Promise<readonly ListedCheckpoint[]> {
  const folder = resolve(directory);
  const before = knownFolders.get(folder);
  const files = new Map<string, KnownFile>();
  for (const name of await namesIn(directory)) {
    // The stamp comes first: a file that is written between the two reads is read again next time.
    const stamp = numberInName(name) === null ? null : await stampOf(join(directory, name));
    if (stamp === null) continue;
    const known = before?.get(name);
    files.set(name, known?.stamp === stamp ? known : { stamp, listed: withoutSummary(await readOne(directory, name)) });
  }
  knownFolders.delete(folder);
  knownFolders.set(folder, files);
  for (const oldest of knownFolders.keys()) if (knownFolders.size > MOST_FOLDERS) knownFolders.delete(oldest);
  return [...files.values()].flatMap(({ listed }) => listed ?? []).sort((a, b) => a.number - b.number);
}

function withoutSummary(read: StoredCheckpoint | string | null): ListedCheckpoint | null {
  if (read === null || typeof read === "string") return null;
  const { summary: _, ...listed } = read;
  return listed;
}

async function readOne(directory: string, name: string): Promise<StoredCheckpoint | string | null> {
  const number = numberInName(name);
  if (number === null) return "its name is not that of a checkpoint";
  const file = await readText(join(directory, name));
  if (file === null) return null;
  if ("problem" in file) return file.problem;
  const checkpoint = readCheckpointText(file.text, number);
  return typeof checkpoint === "string" ? checkpoint : { ...checkpoint, name };
}
