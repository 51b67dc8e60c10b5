import { accessSync, closeSync, constants, existsSync, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { SourceNotFoundError } from "../../errors/import-errors.js";
import type { SessionId } from "../../ids/ids.js";
import { parsedObject } from "../../source/json-text.js";
import type { JsonObject } from "../../source/narrow.js";
import { AGENT_FOLDER, agentOfFile, folderOwner } from "./identity.js";
import { indexFile } from "./indexer.js";
import type { SessionFile } from "./session-file.js";

/** How much of an agent's file is read to see whose it is. Its first line is the prompt; few are longer. */
const HEAD_BYTES = 1 << 16;

/** The files of a session's agents. */
export interface AgentFiles {
  readonly readable: readonly string[];
  /** Files in the session's folder that are there and cannot be opened. */
  readonly unreadable: readonly string[];
}

/** The files of the agents that a session started: in its folder, or in old versions beside its own file. */
export function agentFilesOf(path: string, sessionId: SessionId): AgentFiles {
  if (agentOfFile(path) !== undefined) return { readable: [], unreadable: [] };
  const inside = agentFilesIn(join(dirname(path), basename(path, ".jsonl"), AGENT_FOLDER));
  const beside = agentFilesIn(dirname(path)).filter((file) => isReadable(file) && ownerByContent(file) === sessionId);
  return { readable: [...inside.filter(isReadable), ...beside], unreadable: inside.filter((file) => !isReadable(file)) };
}

function agentFilesIn(folder: string): readonly string[] {
  if (!existsSync(folder) || !statSync(folder).isDirectory()) return [];
  const names = readdirSync(folder).filter((name) => agentOfFile(name) !== undefined);
  return names.sort().map((name) => join(folder, name));
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    // Opening a pipe would wait for whoever writes to it.
    return statSync(path).isFile();
  } catch (error) {
    // ENOENT: a link that points nowhere, or a file that was removed since the folder was read.
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "EACCES")) return false;
    throw error;
  }
}

// A folder may hold hundreds of agents of other sessions, so no more of each is read than says whose it is.
function ownerByContent(path: string): string | undefined {
  const first = /^[^\n]*/.exec(headOf(path))?.[0] ?? "";
  const whole = parsedObject(first)?.sessionId ?? /"sessionId":\s*"([^"\\]+)"/.exec(first)?.[1];
  return typeof whole === "string" ? whole : undefined;
}

function headOf(path: string): string {
  const file = openSync(path, "r");
  try {
    const head = Buffer.alloc(HEAD_BYTES);
    return head.toString("utf8", 0, readSync(file, head, 0, HEAD_BYTES, 0));
  } finally {
    closeSync(file);
  }
}

/** The file of the session that started an agent, if it is where Claude Code keeps it. */
export function parentFileOf(path: string, sessionId: SessionId): string | undefined {
  const folder = folderOwner(path) === undefined ? dirname(path) : dirname(dirname(dirname(path)));
  const parent = join(folder, `${sessionId}.jsonl`);
  return parent !== path && existsSync(parent) ? parent : undefined;
}

let lastParent: { readonly key: string; readonly file: WeakRef<SessionFile> } | undefined;

/**
 * The index of the session that started an agent. The last one is remembered while memory allows: a walk through a
 * directory comes to each agent by itself, and a session may have hundreds.
 */
export function indexParent(path: string): SessionFile {
  const { size, mtimeMs } = statOf(path);
  const key = `${path}\n${size}\n${mtimeMs}`;
  const known = lastParent?.key === key ? lastParent.file.deref() : undefined;
  const file = known ?? indexFile(path);
  lastParent = { key, file: new WeakRef(file) };
  return file;
}

function statOf(path: string): { readonly size: number; readonly mtimeMs: number } {
  try {
    return statSync(path);
  } catch (cause) {
    throw new SourceNotFoundError(path, { cause });
  }
}

/** What `agent-<id>.meta.json` beside an agent's file says; undefined where there is none that can be read. */
export function agentMetaOf(path: string): JsonObject | undefined {
  const meta = path.replace(/\.jsonl$/, ".meta.json");
  return agentOfFile(path) !== undefined && existsSync(meta) ? parsedObject(readFileSync(meta, "utf8")) : undefined;
}
