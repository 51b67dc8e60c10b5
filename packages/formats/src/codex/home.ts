import { basename, dirname, join } from "node:path";
import type { SessionId } from "@bough/session-core";
import { type JsonObject, objectAt, stringAt } from "@bough/session-core/wire";
import { readJsonLines } from "../source/json-lines.js";
import type { SourceFolders } from "../source/source-folders.js";
import { type ReadAttempt, tryRead } from "../source/source-format.js";
import { toRolloutLine } from "./rollout-file.js";

const ROLLOUT_NAME = /^rollout-.*?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl(?:\.zst)?$/i;

/** The id of the session in the name of its file; undefined: the file has another name. */
export function idInName(path: string): SessionId | undefined {
  return ROLLOUT_NAME.exec(basename(path))?.[1];
}

/** The folder of Codex to which a rollout at its usual place belongs, and whether its session is archived. */
export function homeOf(path: string): { readonly home: string; readonly isArchived: boolean } | undefined {
  const folder = dirname(path);
  if (basename(folder) === "archived_sessions") return { home: dirname(folder), isArchived: true };
  const sessions = dirname(dirname(dirname(folder)));
  return basename(sessions) === "sessions" ? { home: dirname(sessions), isArchived: false } : undefined;
}

/** The name that the user gave the session, from the index of names. undefined: none. */
export function readThreadName(path: string, id: SessionId, folders: SourceFolders): ReadAttempt<string | undefined> {
  const index = join(homeOf(path)?.home ?? "", "session_index.jsonl");
  const read = () => (homeOf(path) !== undefined && folders.has(index) ? folders.once(index, readNames).get(id) : undefined);
  return tryRead(index, "the names of the sessions were left out", read);
}

/** The names that the index has for the sessions of a file, by the ids in its name. undefined: none. */
export function notedNames(path: string, folders: SourceFolders): string | undefined {
  const names = idsInName(path).flatMap((id) => readThreadName(path, id, folders).value ?? []);
  return names.length === 0 ? undefined : names.join("\n");
}

/** The names by id. The index is appended to, so the last one counts. */
function readNames(index: string): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const line of readJsonLines(index)) {
    if (line.kind === "problem") continue;
    const [id, name] = [stringAt(line.object, "id"), stringAt(line.object, "thread_name")];
    if (id !== undefined && name !== undefined && name.trim() !== "") names.set(id, name);
  }
  return names;
}

/** The call that started the agent `id`, from the file of the session `parent`. undefined: the file or the call was not found. */
export function readStartingCall(path: string, id: SessionId, parent: SessionId, folders: SourceFolders): ReadAttempt<string | undefined> {
  const file = findRollout(path, parent, folders);
  const read = () => (file === undefined ? undefined : folders.once(file, readSpawns).get(id));
  return tryRead(file ?? path, "the link to the call that started the agent was left out", read);
}

/** The first file of the session `id`: next to `path`, or in the folder of Codex to which `path` belongs. */
function findRollout(path: string, id: SessionId, folders: SourceFolders): string | undefined {
  return findRollouts(path, id, folders)[0];
}

/**
 * The files of the session `id`, oldest first. Codex continues a reverted session (seen in 0.169) in another file, which has the session's
 * id and one of its own in its name.
 */
export function findRollouts(path: string, id: SessionId, folders: SourceFolders): readonly string[] {
  const beside = folders.once(dirname(path), rolloutsIn).get(id);
  const home = homeOf(path)?.home;
  const all = home === undefined ? undefined : folders.once(home, rolloutsBelow).get(id);
  return all ?? beside ?? [];
}

type Rollouts = ReadonlyMap<string, readonly string[]>;

function rolloutsIn(folder: string, folders: SourceFolders): Rollouts {
  const found = tryRead(folder, "", () => folders.paths(folder, ({ name }) => ROLLOUT_NAME.test(name)));
  return byId(found.value ?? []);
}

/** The rollouts of all days, by id. Costs one listing for each day, once for an import. */
function rolloutsBelow(home: string, folders: SourceFolders): Rollouts {
  const subfolders = (folder: string) => tryRead(folder, "", () => folders.paths(folder, ({ kind }) => kind === "folder")).value ?? [];
  const days = subfolders(join(home, "sessions")).flatMap(subfolders).flatMap(subfolders);
  return byId([...days, join(home, "archived_sessions")].flatMap((folder) => [...folders.once(folder, rolloutsIn).values()].flat()));
}

/** Rollouts by the ids in their names, which begin with their times. */
function byId(paths: readonly string[]): Rollouts {
  const found = new Map<string, string[]>();
  for (const path of [...new Set(paths)].sort((left, right) => (basename(left) < basename(right) ? -1 : 1)))
    for (const id of idsInName(path)) found.set(id, [...(found.get(id) ?? []), path]);
  return found;
}

function idsInName(path: string): readonly string[] {
  return basename(path).match(UUID) ?? [];
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

/** The call ids of the agents that a session started, by the ids of their sessions: events name both, or the output of the call does. */
function readSpawns(path: string): ReadonlyMap<string, string> {
  const calls = new Map<string, string>();
  const spawns = new Set<string>();
  for (const line of readJsonLines(path)) {
    if (line.kind === "problem") continue;
    const { payload } = toRolloutLine(line.object, line.line);
    const callId = stringAt(payload, "call_id") ?? stringAt(payload, "event_id") ?? "";
    if (payload.type === "function_call" && payload.name === "spawn_agent") spawns.add(callId);
    for (const agent of startedAgents(payload, spawns.has(callId))) if (!calls.has(agent)) calls.set(agent, callId);
  }
  return calls;
}

function startedAgents(payload: JsonObject, isOfSpawn: boolean): readonly string[] {
  if (payload.type === "collab_agent_spawn_end") return textsOf(payload.new_thread_id);
  if (!isOfSpawn) return [];
  if (payload.type === "sub_agent_activity") return textsOf(payload.agent_thread_id);
  if (payload.type !== "function_call_output") return [];
  const { output } = payload;
  const text = typeof output === "string" ? output : (stringAt(objectAt(payload, "output") ?? {}, "content") ?? "");
  return text.match(UUID) ?? [];
}

function textsOf(value: unknown): readonly string[] {
  return typeof value === "string" ? [value] : [];
}
