import { join, resolve } from "node:path";
import * as rules from "@bough/session-core/arguments";
import { FOLDER } from "../arguments/shapes.js";
import { type Checkpoint, formatIsoTime, parseCheckpoint, parseFileNumber } from "./checkpoint.js";
import { listNames, readStamp, readText } from "./folder.js";

/** The file name of the index. */
export const INDEX_NAME = "index.md";

/** A checkpoint with its file name. */
export interface StoredCheckpoint extends Checkpoint {
  readonly name: string;
}

/** A checkpoint without its summary. */
export type ListedCheckpoint = Omit<StoredCheckpoint, "summary">;

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
export async function listStoredCheckpoints(directory: string): Promise<readonly ListedCheckpoint[]> {
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
export function formatIndex(checkpoints: readonly ListedCheckpoint[]): string {
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
