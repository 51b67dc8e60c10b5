import { basename, dirname, join } from "node:path";
import type { SessionId } from "../../ids/ids.js";
import { type JsonObject, objectAt, stringAt } from "../../source/json.js";
import { readJsonLines } from "../../source/json-lines.js";
import type { SourceFolders } from "../../source/source-folders.js";
import { type ReadAttempt, tryRead } from "../../source/source-session.js";
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

/** The file of the session `id`: next to `path`, or in the folder of Codex to which `path` belongs. */
export function findRollout(path: string, id: SessionId, folders: SourceFolders): string | undefined {
  const beside = folders.once(dirname(path), rolloutsIn).get(id);
  const home = homeOf(path)?.home;
  return beside ?? (home === undefined ? undefined : folders.once(home, rolloutsBelow).get(id));
}

function rolloutsIn(folder: string, folders: SourceFolders): ReadonlyMap<string, string> {
  const found = tryRead(folder, "", () => folders.paths(folder, ({ name }) => ROLLOUT_NAME.test(name)));
  return new Map((found.value ?? []).flatMap((path) => (idInName(path) === undefined ? [] : [[idInName(path) ?? "", path] as const])));
}

/** The rollouts of all days, by id. Costs one listing for each day, once for an import. */
function rolloutsBelow(home: string, folders: SourceFolders): ReadonlyMap<string, string> {
  const subfolders = (folder: string) => tryRead(folder, "", () => folders.paths(folder, ({ kind }) => kind === "folder")).value ?? [];
  const days = subfolders(join(home, "sessions")).flatMap(subfolders).flatMap(subfolders);
  return new Map([...days, join(home, "archived_sessions")].flatMap((folder) => [...folders.once(folder, rolloutsIn)]));
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
