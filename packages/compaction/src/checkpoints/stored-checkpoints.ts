import { join, resolve } from "node:path";
import type { SessionId } from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import { CHECKPOINT, FOLDER } from "../arguments/shapes.js";
import { CheckpointError } from "../errors/compaction-errors.js";
import {
  type Checkpoint,
  formatCheckpoint,
  formatIsoTime,
  makeClaimName,
  makeFileName,
  parseCheckpoint,
  parseFileNumber,
} from "./checkpoint.js";
import { createFile, listNames, makeFolder, moveFile, readStamp, readText, removeFile, removeLeftovers, replaceFile } from "./folder.js";

/** The file name of the index. */
const INDEX_NAME = "index.md";

/** A checkpoint with its file name. */
export interface StoredCheckpoint extends Checkpoint {
  readonly name: string;
}

/** A checkpoint without its summary. */
type ListedCheckpoint = Omit<StoredCheckpoint, "summary">;

/** A file in the folder that is not a checkpoint of this package. It is not changed. */
export interface ForeignFile {
  readonly name: string;
  /** One line; contains text of the file. */
  readonly problem: string;
}

/** The contents of a folder of checkpoints. */
export interface StoredCheckpoints {
  /** By number, then by name. */
  readonly checkpoints: readonly StoredCheckpoint[];
  readonly foreign: readonly ForeignFile[];
}

/**
 * Reads the checkpoints in a folder; none if the folder does not exist. Other and damaged files are listed and not
 * changed. Cost: reads each file once.
 *
 * @throws {CheckpointError} the folder cannot be read.
 */
export async function readCheckpoints(directory: string): Promise<StoredCheckpoints> {
  rules.checkArgument("directory", directory, FOLDER);
  const checkpoints: StoredCheckpoint[] = [];
  const foreign: ForeignFile[] = [];
  for (const name of await listNames(directory)) {
    // The index and temporary files.
    if (name === INDEX_NAME || name.startsWith(".")) continue;
    const read = await readCheckpointFile(directory, name);
    if (typeof read === "string") foreign.push({ name, problem: read });
    else if (read !== null) checkpoints.push(read);
  }
  return { checkpoints: checkpoints.sort((a, b) => a.number - b.number), foreign };
}

/** The checkpoint of a file at the time of `stamp`; null: none. */
interface KnownFile {
  readonly stamp: string;
  readonly listed: ListedCheckpoint | null;
}

/** Cached folders, the last used one at the end. */
const knownFolders = new Map<string, ReadonlyMap<string, KnownFile>>();

const MAX_FOLDERS = 8;

/**
 * Lists the checkpoints in a folder without their summaries, by number, then by name. Cost: a `stat` of each file, and a
 * read of each file that changed since the last call in this process.
 *
 * @throws {CheckpointError} the folder cannot be read.
 */
async function listStoredCheckpoints(directory: string): Promise<readonly ListedCheckpoint[]> {
  const folder = resolve(directory);
  const before = knownFolders.get(folder);
  const files = new Map<string, KnownFile>();
  for (const name of await listNames(directory)) {
    // The stamp is read first, so that a file written between the two reads is read again next time.
    const stamp = parseFileNumber(name) === null ? null : await readStamp(join(directory, name));
    if (stamp === null) continue;
    const known = before?.get(name);
    files.set(name, known?.stamp === stamp ? known : { stamp, listed: omitSummary(await readCheckpointFile(directory, name)) });
  }
  knownFolders.delete(folder);
  knownFolders.set(folder, files);
  for (const oldest of knownFolders.keys()) if (knownFolders.size > MAX_FOLDERS) knownFolders.delete(oldest);
  return [...files.values()].flatMap(({ listed }) => listed ?? []).sort((a, b) => a.number - b.number);
}

function omitSummary(read: StoredCheckpoint | string | null): ListedCheckpoint | null {
  if (read === null || typeof read === "string") return null;
  const { summary: _, ...listed } = read;
  return listed;
}

async function readCheckpointFile(directory: string, name: string): Promise<StoredCheckpoint | string | null> {
  const number = parseFileNumber(name);
  if (number === null) return "its name is not a checkpoint's";
  const file = await readText(join(directory, name));
  if (file === null) return null;
  if ("problem" in file) return file.problem;
  const checkpoint = parseCheckpoint(file.text, number);
  return typeof checkpoint === "string" ? checkpoint : { ...checkpoint, name };
}

/** The index of a folder as a Markdown table, built only from its files, so it is correct after a crash. */
function formatIndex(checkpoints: readonly ListedCheckpoint[]): string {
  const head = ["# Checkpoints", "", "Summaries of a session, oldest first. Rewritten with each checkpoint; edits are lost.", ""];
  if (checkpoints.length === 0) return [...head, "None yet. Each compaction writes one.", ""].join("\n");
  const table = ["| # | title | created | trigger | tokens | entries | session |", "| ---: | --- | --- | --- | --- | ---: | --- |"];
  return [...head, ...table, ...checkpoints.map(formatRow), ""].join("\n");
}

function formatRow({ number, title, name, createdAtMs, trigger, tokensBefore, tokensAfter, covers, sessionId }: ListedCheckpoint): string {
  const created = formatIsoTime(createdAtMs)?.slice(0, 16).replace("T", " ") ?? "";
  const tokens = `${tokensBefore ?? "?"} → ${tokensAfter ?? "?"}`;
  const cells = [
    number,
    `[${escapeCell(title)}](${encodeLink(name)})`,
    created,
    escapeCell(trigger ?? ""),
    tokens,
    covers?.entries ?? 0,
    escapeCell(sessionId),
  ];
  return `| ${cells.join(" | ")} |`;
}

/** Escapes a text for a table cell and a link. */
function escapeCell(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .replace(/[\\`*_{}[\]()#+!|~$]/g, "\\$&")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}

/** A user may have renamed the file. */
function encodeLink(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replaceAll("(", "%28").replaceAll(")", "%29");
}

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
