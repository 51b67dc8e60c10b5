import { basename, dirname, join } from "node:path";
import type { SessionId } from "@bough/session-core";
import { isId } from "@bough/session-core/wire";
import { derivedId } from "../source/derived-id.js";
import { readStart } from "../source/source-file.js";
import type { SourceFolders } from "../source/source-folders.js";
import { type ReadAttempt, tryRead } from "../source/source-format.js";

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** The largest part of a small file next to a session that is read, in bytes. */
const MOST_BYTES = 1 << 20;

/**
 * The id of the session in a file: its folder's name or its own, because a fork begins with records of another session; otherwise the id
 * in the records.
 */
export function sessionIdOf(path: string, recorded: string | undefined): SessionId {
  const name = basename(path).replace(/\.jsonl?$/, "");
  const own = [basename(dirname(path)), name].find((one, at) => UUID.test(one) && (at === 1 || name === "events"));
  if (own !== undefined) return own;
  return recorded !== undefined && isId(recorded) ? recorded : isId(name) ? name : derivedId(name);
}

/** Reads the values of a session's `workspace.yaml`; empty if there is none. */
export function readWorkspace(path: string, folders: SourceFolders): ReadAttempt<ReadonlyMap<string, string>> {
  const file = join(dirname(path), "workspace.yaml");
  const isThere = basename(path) === "events.jsonl" && folders.has(file);
  return tryRead(file, "the session's name was left out", () => readScalars(isThere ? readStart(file, MOST_BYTES).toString("utf8") : ""));
}

/**
 * The summary in a checkpoint's file. Only its name is used: the recorded path may be one of another machine.
 */
export function readCheckpoint(path: string, checkpoint: string): string | undefined {
  const name = checkpoint.split(/[\\/]/).at(-1) ?? "";
  if (!/^[\w.-]+\.md$/.test(name)) return undefined;
  const file = join(dirname(path), "checkpoints", name);
  return tryRead(file, "the summary was left out", () => readStart(file, MOST_BYTES).toString("utf8")).value?.trim() || undefined;
}

/** The values of the first level of a YAML file, as text. Blocks (`|-`, `>`) are joined; other nested values are left out. */
function readScalars(yaml: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  let block: string | undefined;
  for (const line of yaml.split(/\r?\n/)) {
    const [, key, given = ""] = /^([A-Za-z_]\w*):(?:\s([\s\S]*))?$/.exec(line) ?? [];
    const value = given.trimStart();
    if (key !== undefined) {
      block = /^[|>][+-]?\d*$/.test(value) ? key : undefined;
      values.set(key, block === undefined ? unquoted(value.trim()) : "");
    } else if (block !== undefined) {
      values.set(block, `${values.get(block) ?? ""}\n${line.replace(/^ {2}/, "")}`.trim());
    }
  }
  return values;
}

function unquoted(value: string): string {
  if (/^'.*'$/.test(value)) return value.slice(1, -1).replaceAll("''", "'");
  if (!/^".*"$/.test(value)) return value;
  const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };
  return value.slice(1, -1).replace(/\\(.)/g, (_, char: string) => escapes[char] ?? char);
}
