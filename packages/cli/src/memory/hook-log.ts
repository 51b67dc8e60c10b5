import { randomUUID } from "node:crypto";
import { appendFile, mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorCode } from "@bough/session-core/engine";
import { isObject, parseJson } from "@bough/session-core/wire";
import type { Io } from "../terminal/io.js";
import { userFolder } from "../terminal/user-folder.js";

/** A passage that a hook gave an agent. */
export interface GivenMemory {
  readonly atMs: number;
  readonly agent: string;
  readonly event: string;
  readonly cwd: string;
  readonly sessionId: string | null;
  /** The beginning of the prompt, without its secrets. */
  readonly prompt: string;
  /** The sessions and entries that the text quotes. */
  readonly entries: readonly { readonly sessionId: string; readonly entryId: string; readonly score: number }[];
  readonly text: string;
}

/** The log keeps its newer half when it grows beyond this, in bytes. */
const MAX_LOG = 2_000_000;

/** The path of the log, `bough/hook.jsonl` in `XDG_STATE_HOME` or `~/.local/state`; undefined: there is no home directory, and no log. */
function hookLogPath(io: Pick<Io, "env" | "home">): string | undefined {
  const folder = userFolder(io, "XDG_STATE_HOME");
  return folder === "" ? undefined : join(folder, "bough", "hook.jsonl");
}

/** Adds a line to the log, which only its owner may read. */
export async function logMemory(io: Pick<Io, "env" | "home">, given: GivenMemory): Promise<void> {
  const path = hookLogPath(io);
  if (path === undefined) return;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await appendFile(path, `${JSON.stringify(given)}\n`, { mode: 0o600 });
  if ((await stat(path)).size > MAX_LOG) await halve(path);
}

async function halve(path: string): Promise<void> {
  const lines = (await readFile(path, "utf8")).split("\n");
  // Hooks of two sessions may do this at once.
  const half = `${path}.${randomUUID()}`;
  await writeFile(half, lines.slice(Math.floor(lines.length / 2)).join("\n"), { mode: 0o600 });
  await rename(half, path);
}

/** Reads the log, oldest first. Lines that are damaged are left out. */
export async function readHookLog(io: Pick<Io, "env" | "home">): Promise<readonly GivenMemory[]> {
  const path = hookLogPath(io);
  if (path === undefined) return [];
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return "";
    throw error;
  });
  return text.split("\n").flatMap((line) => parseLine(line) ?? []);
}

function parseLine(line: string): GivenMemory | undefined {
  const value = parseJson(line);
  return isGiven(value) ? value : undefined;
}

function isGiven(value: unknown): value is GivenMemory {
  if (!isObject(value)) return false;
  const texts = ["agent", "event", "cwd", "prompt", "text"].every((name) => typeof value[name] === "string");
  return texts && typeof value["atMs"] === "number" && Array.isArray(value["entries"]);
}
