import { join, resolve } from "node:path";
import { rules } from "@bough/session-core/internals";
import { FOLDER } from "../arguments/shapes.js";
import { type Checkpoint, formatIsoTime, parseCheckpoint, parseFileNumber } from "./checkpoint.js";
import { listNames, readStamp, readText } from "./folder.js";

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
  for (const name of await listNames(directory)) {
    // The list itself, and what is being written.
    if (name === INDEX_NAME || name.startsWith(".")) continue;
    const read = await readCheckpointFile(directory, name);
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
export async function listStoredCheckpoints(directory: string): Promise<readonly ListedCheckpoint[]> {
  const folder = resolve(directory);
  const before = knownFolders.get(folder);
  const files = new Map<string, KnownFile>();
  for (const name of await listNames(directory)) {
    // The stamp comes first: a file that is written between the two reads is read again next time.
    const stamp = parseFileNumber(name) === null ? null : await readStamp(join(directory, name));
    if (stamp === null) continue;
    const known = before?.get(name);
    files.set(name, known?.stamp === stamp ? known : { stamp, listed: omitSummary(await readCheckpointFile(directory, name)) });
  }
  knownFolders.delete(folder);
  knownFolders.set(folder, files);
  for (const oldest of knownFolders.keys()) if (knownFolders.size > MOST_FOLDERS) knownFolders.delete(oldest);
  return [...files.values()].flatMap(({ listed }) => listed ?? []).sort((a, b) => a.number - b.number);
}

function omitSummary(read: StoredCheckpoint | string | null): ListedCheckpoint | null {
  if (read === null || typeof read === "string") return null;
  const { summary: _, ...listed } = read;
  return listed;
}

async function readCheckpointFile(directory: string, name: string): Promise<StoredCheckpoint | string | null> {
  const number = parseFileNumber(name);
  if (number === null) return "its name is not that of a checkpoint";
  const file = await readText(join(directory, name));
  if (file === null) return null;
  if ("problem" in file) return file.problem;
  const checkpoint = parseCheckpoint(file.text, number);
  return typeof checkpoint === "string" ? checkpoint : { ...checkpoint, name };
}

/** The name of the list of checkpoints in their folder. */
export const INDEX_NAME = "index.md";

/** A checkpoint and the file it is in. */
export interface StoredCheckpoint extends Checkpoint {
  readonly name: string;
}

/** The same without the summary: what the list of a folder tells. */
export type ListedCheckpoint = Omit<StoredCheckpoint, "summary">;

/** The list of the checkpoints in a folder, as a Markdown table; made from the files alone, so it is right after any crash. */
export function formatIndex(checkpoints: readonly ListedCheckpoint[]): string {
  const head = ["# Checkpoints", "", "Summaries of a session, oldest first. Written anew with each checkpoint: edits here are lost.", ""];
  if (checkpoints.length === 0) return [...head, "There are none yet: one is written when the context is compacted.", ""].join("\n");
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

/** A text in a cell is text: nothing in it ends the cell or the link, or is taken for Markdown or HTML. */
function escapeCell(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .replace(/[\\`*_{}[\]()#+!|~$]/g, "\\$&")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}

/** A person may have renamed the file, so its name may hold anything. */
function encodeLink(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replaceAll("(", "%28").replaceAll(")", "%29");
}
