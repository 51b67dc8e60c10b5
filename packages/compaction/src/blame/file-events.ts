import { posix } from "node:path";
import {
  type Entry,
  type EntryId,
  EntryNotFoundError,
  pagesOf,
  type SearchRequest,
  type Session,
  type SessionId,
  type Store,
  type StoredFileTouch,
  type ToolResultMessage,
} from "@bough/session-core";
import { groupBy } from "@bough/session-core/engine";
import { isPrivate } from "@bough/session-core/view";
import { changeOfTouch, findResult, listScripts, readShellChange } from "../recall/file-change.js";
import { findRemoval } from "./find-removal.js";
import type { LineEvent } from "./trace-lines.js";

/** An event in the life of a file, and the entry that it comes from. */
export interface FileEvent extends LineEvent {
  readonly sessionId: SessionId;
  readonly entryId: EntryId;
  readonly createdAtMs: number;
}

/** A file of which git says that it had another name until a commit. */
export interface GitRename {
  readonly from: string;
  readonly untilMs: number;
}

/** Most shell commands that are read for the name of a file. */
const MOST_COMMANDS = 300;
/** Most names that a file had before. */
const MOST_NAMES = 8;

/** Collects what the calls of all sessions did to one file, under the names that it had before too. Reads each session once. */
export class FileHistory {
  readonly #store: Store;
  readonly #home: string;
  readonly #sessions = new Map<SessionId, Promise<Session>>();
  readonly notes: string[] = [];
  #names = 0;

  /** `home`: the folder that `~` means in the paths of calls. */
  constructor(store: Store, home: string) {
    this.#store = store;
    this.#home = home;
  }

  session(id: SessionId): Promise<Session> {
    const opened = this.#sessions.get(id) ?? this.#store.openSession(id);
    this.#sessions.set(id, opened);
    return opened;
  }

  /**
   * The events of the file with these absolute paths, all of which name it, oldest first.
   *
   * @param untilMs Only events before this time.
   */
  async read(paths: readonly string[], renames: readonly GitRename[], untilMs = Number.POSITIVE_INFINITY): Promise<readonly FileEvent[]> {
    this.#names += 1;
    const touches = (await this.#store.fileTouches(paths.flatMap((path) => writtenForms(path, this.#home)))).filter(
      (touch) => !touch.isCopy && touch.createdAtMs < untilMs && paths.includes(resolveTouch(touch, this.#home) ?? ""),
    );
    const calls = await this.#readTouches(touches);
    const commands = await this.#readCommands(paths, untilMs, new Set(touches.map(({ entryId }) => entryId)));
    const events = [...calls, ...commands].sort((one, other) => one.createdAtMs - other.createdAtMs);
    return this.#withEarlierNames(events, paths, renames);
  }

  /** Puts the events of a file before a move before those after it. */
  async #withEarlierNames(
    own: readonly FoundEvent[],
    paths: readonly string[],
    renames: readonly GitRename[],
  ): Promise<readonly FileEvent[]> {
    const moves = own.flatMap(({ change, createdAtMs, resolve }) => {
      if (change.kind !== "move" || !paths.includes(resolve(change.to) ?? "")) return [];
      return [{ from: resolve(change.from), untilMs: createdAtMs, isCall: true }];
    });
    const last = moves.at(-1);
    // What stood at this path before a move is gone.
    let events: FileEvent[] = own
      .filter(({ createdAtMs }) => last === undefined || createdAtMs >= last.untilMs)
      .map(({ resolve, ...event }) => asSeenFrom(event, paths, resolve));
    const earlier = [...(last === undefined ? [] : [last]), ...renames];
    for (const { from, untilMs } of earlier) {
      if (from === undefined || paths.includes(from) || this.#names >= MOST_NAMES) continue;
      events = [...(await this.read([from], [], untilMs)), ...events];
    }
    return earlier.length === 0 ? events : events.sort((one, other) => one.createdAtMs - other.createdAtMs);
  }

  async #readTouches(touches: readonly StoredFileTouch[]): Promise<readonly FoundEvent[]> {
    const events: FoundEvent[] = [];
    for (const [id, own] of groupBy(touches, ({ sessionId }) => sessionId)) {
      const session = await this.session(id);
      const entries = await session.entriesById([...new Set(own.map(({ entryId }) => entryId))]);
      for (const touch of own) {
        const entry = entries.get(touch.entryId);
        if (entry === undefined || isPrivate(entry)) continue;
        const result = await findResult(session, touch.entryId, touch.toolCallId);
        const event = toEvent(touch, entry, result, (path) => resolvePath(path, touch.cwd, this.#home));
        if (event !== undefined) events.push(event);
      }
    }
    return events;
  }

  /** Shell commands that name the file, or that remove a folder above it. */
  async #readCommands(paths: readonly string[], untilMs: number, known: ReadonlySet<EntryId>): Promise<readonly FoundEvent[]> {
    const [name = "", ...folders] = namesAbove(paths);
    if (name === "") return [];
    const found = await this.#findCommands({ query: `"${name}"`, names: name }, paths, untilMs, known);
    const read = new Set([...known, ...found.map(({ entryId }) => entryId)]);
    for (const folder of folders) {
      const removals = await this.#findCommands({ query: `"rm" "${folder}"`, names: `rm and ${folder}` }, paths, untilMs, read);
      for (const event of removals) read.add(event.entryId);
      found.push(...removals);
    }
    return found;
  }

  async #findCommands(
    { query, names }: { readonly query: string; readonly names: string },
    paths: readonly string[],
    untilMs: number,
    known: ReadonlySet<EntryId>,
  ): Promise<FoundEvent[]> {
    const events: FoundEvent[] = [];
    let read = 0;
    const request: SearchRequest = {
      query,
      roles: ["assistant", "bashExecution"],
      untilMs: Number.isFinite(untilMs) ? untilMs : undefined,
      snippets: false,
      limit: 100,
    };
    for await (const { hits, next } of pagesOf((cursor) => this.#store.search({ ...request, cursor }))) {
      for (const { sessionId, entryId } of hits) {
        if (entryId !== null && !known.has(entryId)) events.push(...(await this.#readScripts(sessionId, entryId, paths)));
      }
      read += hits.length;
      if (next === null || read < MOST_COMMANDS) continue;
      this.notes.push(`Only ${MOST_COMMANDS} of the entries that name ${names} were read for shell commands.`);
      break;
    }
    return events;
  }

  async #readScripts(sessionId: SessionId, entryId: EntryId, paths: readonly string[]): Promise<readonly FoundEvent[]> {
    const session = await this.session(sessionId);
    const entry = await findEntry(session, entryId);
    if (entry === undefined || isPrivate(entry)) return [];
    const scripts = listScripts(entry);
    if (scripts.length === 0) return [];
    const name = posix.basename(paths[0] ?? "");
    const { cwd } = await session.record();
    const events: FoundEvent[] = [];
    for (const { script, toolCallId } of scripts) {
      const effect = this.#effectOf(script, name, paths, cwd);
      if (effect === undefined) continue;
      const result = toolCallId === null ? undefined : await findResult(session, entryId, toolCallId);
      const isDone = toolCallId === null || result !== undefined;
      if (result?.isError !== true) events.push({ sessionId, entryId, createdAtMs: entry.createdAtMs, isDone, ...effect });
    }
    return events;
  }

  /** The effect of a shell command on the file; undefined: it names another one. */
  #effectOf(
    script: string,
    name: string,
    paths: readonly string[],
    cwd: string | null,
  ): Pick<FoundEvent, "change" | "script" | "resolve"> | undefined {
    const shell = readShellChange(script);
    const folder = resolvePath(shell?.folder ?? "", cwd, this.#home) ?? cwd;
    const resolve = (path: string): string | undefined => resolvePath(path, folder, this.#home);
    if (shell !== undefined && paths.includes(resolve(shell.path) ?? "")) return { change: shell.change, script: null, resolve };
    const removal = findRemoval(script, paths, (path, below) => resolvePath(path, below ?? cwd, this.#home));
    if (removal === "done") return { change: { kind: "delete" }, script: null, resolve };
    const isNamed = script.includes(name) && namesPath(script, name, paths, cwd, this.#home);
    if (removal === "none" && !isNamed) return undefined;
    const why = removal === "none" ? "runs a command that names it" : "runs a command that may have removed it";
    return { change: { kind: "unknown", why, written: [] }, script, resolve };
  }
}

interface FoundEvent extends FileEvent {
  /** The absolute path that a path of the call means. */
  readonly resolve: (path: string) => string | undefined;
}

function toEvent(
  touch: StoredFileTouch,
  entry: Entry,
  result: ToolResultMessage | undefined,
  resolve: (path: string) => string | undefined,
): FoundEvent | undefined {
  if (result?.isError === true) return undefined;
  const { sessionId, entryId, createdAtMs } = touch;
  const change = changeOfTouch(entry, touch, result);
  return { sessionId, entryId, createdAtMs, change, script: null, isDone: result !== undefined, resolve };
}

/** A move away from a file is its end. */
function asSeenFrom(event: FileEvent, paths: readonly string[], resolve: (path: string) => string | undefined): FileEvent {
  const { change } = event;
  if (change.kind !== "move" || paths.includes(resolve(change.to) ?? "")) return event;
  return { ...event, change: { kind: "delete" } };
}

async function findEntry(session: Session, id: EntryId): Promise<Entry | undefined> {
  try {
    return await session.entry(id);
  } catch (error) {
    if (error instanceof EntryNotFoundError) return undefined;
    throw error;
  }
}

/** True if a word of a command means one of the paths, in the directory of the session or in one that the command changes to. */
function namesPath(script: string, name: string, paths: readonly string[], cwd: string | null, home: string): boolean {
  const literal = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const words = script.match(new RegExp(`[\\w./~@+-]*${literal}(?![\\w.-])`, "g")) ?? [];
  return words.some((word) => meansPath(word, script, paths, cwd, home));
}

/** The most folders above a file whose removal is looked for. */
const MOST_FOLDERS = 6;

/** The name of a file, and of the folders above it, the nearest first. */
function namesAbove(paths: readonly string[]): readonly string[] {
  const all = paths.flatMap((path) =>
    path
      .split("/")
      .filter((part) => part !== "")
      .reverse()
      .slice(0, MOST_FOLDERS + 1),
  );
  return [...new Set(all.map((name) => name.replaceAll('"', "")))];
}

function meansPath(word: string, script: string, paths: readonly string[], cwd: string | null, home: string): boolean {
  const folders = [...script.matchAll(/\bcd\s+["']?([^\s;&|"']+)/g)].map(([, folder = ""]) => resolvePath(folder, cwd, home) ?? null);
  return [cwd, ...folders].some((folder) => paths.includes(resolvePath(word, folder, home) ?? ""));
}

/** The most folders that a relative path may leave. */
const MOST_UP = 12;
const LEAVING = Array.from({ length: MOST_UP + 1 }, (_, up) => "../".repeat(up));

/** The forms in which calls may write an absolute path: itself, below `~`, relative to each folder above, or to one beside these (`../`). */
function writtenForms(path: string, home: string): readonly string[] {
  const parts = path.split("/").filter((part) => part !== "");
  const relative = parts.flatMap((_, at) => LEAVING.map((leaving) => leaving + parts.slice(at).join("/")));
  const inHome = home !== "" && path.startsWith(`${home}/`) ? [`~${path.slice(home.length)}`] : [];
  return [path, ...inHome, ...relative];
}

function resolveTouch({ path, cwd }: StoredFileTouch, home: string): string | undefined {
  return resolvePath(path, cwd, home);
}

/** The absolute path; undefined: a relative one in a session without a directory. */
function resolvePath(path: string, cwd: string | null, home: string): string | undefined {
  const expanded = /^~(?=\/|$)/.test(path) && home !== "" ? home + path.slice(1) : path;
  if (posix.isAbsolute(expanded)) return posix.normalize(expanded);
  return cwd === null || !posix.isAbsolute(cwd) ? undefined : posix.normalize(posix.join(cwd, expanded)).replace(/(?<=.)\/$/, "");
}
