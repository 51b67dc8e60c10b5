import { type EntryId, type FileOperation, pagesOf, type Session } from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import { cleanText, isPrivate } from "@bough/session-core/view";
import { RECALL, SESSION } from "../arguments/shapes.js";
import { applyReplacements } from "./apply-change.js";
import { formatTime } from "./entry-text.js";
import { changeOfTouch, type FileChange, findResult, listScripts, textWritten } from "./file-change.js";
import { MAX_CHARS, parseInput, type RecallFileInput, type RecallOptions, recallFileInput } from "./inputs.js";
import { takeLines } from "./line-window.js";
import { isSamePath } from "./patch-hunks.js";
import { takePiece } from "./read.js";
import type { RecallAnswer } from "./search.js";

/** The state of a file at an entry, as far as the calls show it. */
export interface RecallFileResult {
  /** The longest form of the path in the calls; null: no call names such a file, or several do. */
  readonly path: string | null;
  /**
   * `known`: the text is what the calls of the session leave. `outdated`: the last known text, after which a call changed the file in a way
   * that cannot be replayed. `deleted`: the last call deleted it. `unknown`: no call shows its text.
   */
  readonly state: "known" | "outdated" | "deleted" | "unknown";
  readonly content: string | null;
  /** The number of lines of the text; null: it is not known. */
  readonly lines: number | null;
  /** The entries whose calls the text comes from, oldest first. */
  readonly entryIds: readonly EntryId[];
  /** The input `offset` of the next piece of the text; null: this is the last one. */
  readonly next: number | null;
}

/**
 * The state in which the calls of a path left a file: its last full write or full read, and the edits after it replayed. Says what it
 * cannot know: edits that do not fit, and shell commands that may have changed the file. Cost: the file operations of the path, and the
 * payloads of those on this file and of the shell commands after them.
 *
 * @throws {RecallInputError | EntryNotFoundError | AmbiguousNameError}
 * @example
 * const { data } = await recallFile(session, { path: "src/lexer.ts" });
 */
export async function recallFile(
  session: Session,
  input: RecallFileInput,
  options: Pick<RecallOptions, "maxChars"> = {},
): Promise<RecallAnswer<RecallFileResult>> {
  rules.checkArgument("session", session, SESSION);
  rules.checkArgument("options", options, RECALL);
  const { path, at, lines, grep, context, offset } = parseInput(recallFileInput, input);
  const leafId = at === undefined ? session.leafId : await session.resolve(at);
  const operations = leafId === null ? [] : await session.fileOperations({ toId: leafId });
  const { name, touching, others } = selectFile(operations, path);
  if (name === null || leafId === null) return { text: explainMissing(path, others), data: NOTHING };
  const done = (list: readonly FileOperation[]) => list.filter(({ outcome }) => outcome !== "failed");
  const replay = new Replay(session, leafId, { operations: done(operations), changes: new Map(), earlier: new Map() });
  await replay.run(done(touching));
  const { content, state, entryIds } = replay;
  const total = content === null ? null : content.split("\n").length;
  const size = total === null ? "" : `; ${total} ${total === 1 ? "line" : "lines"}`;
  const head = [`${name}: ${await replay.describe(name)}${size}`, ...replay.notes].join("\n");
  const body = content === null ? "" : takeLines(cleanText(content), { lines: lines ?? "1-", grep, context });
  const { text, next } = takePiece(body === "" ? head : `${head}\n${body}`, offset, options.maxChars ?? MAX_CHARS);
  return { text, data: { path: name, state, content, lines: total, entryIds, next } };
}

const NOTHING: RecallFileResult = { path: null, state: "unknown", content: null, lines: null, entryIds: [], next: null };

function explainMissing(path: string, others: readonly string[]): string {
  if (others.length > 0) return cleanText(`Several files end in ${path}: ${others.slice(0, 20).join(", ")}. Name one of them.`);
  return cleanText(`No call on this path names the file ${path}. Shell commands may have; search for its name.`);
}

/** The operations on the file of a path. A relative path and an absolute one that ends with it are the same file. */
function selectFile(operations: readonly FileOperation[], path: string) {
  const endsWith = (long: string, short: string) => long === short || long.endsWith(`/${short.replace(/^\.?\//, "")}`);
  const paths = [...new Set(operations.map((operation) => operation.path))].filter((one) => endsWith(one, path) || endsWith(path, one));
  const longest = paths.toSorted((a, b) => b.length - a.length)[0];
  if (longest === undefined) return { name: null, touching: [], others: [] };
  const others = paths.filter((one) => !endsWith(longest, one));
  if (others.length > 0 && !paths.includes(path)) return { name: null, touching: [], others: paths };
  const own = paths.includes(path) ? path : longest;
  const same = paths.filter((one) => endsWith(own, one) || (endsWith(one, own) && others.length === 0));
  return { name: own, touching: operations.filter((operation) => same.includes(operation.path)), others: [] };
}

/** State that the replays of a file share with those of files that were moved to its name. */
interface SharedPath {
  /** The operations of the path on any file. */
  readonly operations: readonly FileOperation[];
  /** The effects of the operations that were read, by entry, call and path. */
  readonly changes: Map<string, FileChange>;
  /** The replays of files up to an operation: one that was moved to and fro has one for each move, however many moves follow. */
  readonly earlier: Map<string, Promise<Replay>>;
}

/** Replays the operations on one file. */
class Replay {
  content: string | null = null;
  state: RecallFileResult["state"] = "unknown";
  readonly entryIds: EntryId[] = [];
  readonly notes: string[] = [];
  readonly #session: Session;
  readonly #leafId: EntryId;
  readonly #shared: SharedPath;

  constructor(session: Session, leafId: EntryId, shared: SharedPath) {
    this.#session = session;
    this.#leafId = leafId;
    this.#shared = shared;
  }

  async run(operations: readonly FileOperation[]): Promise<this> {
    const base = await this.#findBase(operations);
    for (const operation of operations.slice(base)) await this.#apply(operation);
    return this;
  }

  /** One line: where the text comes from. */
  async describe(name: string): Promise<string> {
    const last = this.entryIds.at(-1);
    const time = last === undefined ? "" : `, ${formatTime((await this.#session.entry(last)).createdAtMs)}`;
    const from = this.entryIds.length === 0 ? "" : ` (from ${nameSome(this.entryIds)}${time})`;
    if (last !== undefined) await this.#noteCommands(last, name);
    switch (this.state) {
      case "known":
        return `as the calls of this path left it${from}`;
      case "outdated":
        return `the last known text, which a later call changed${from}`;
      case "deleted":
        return `deleted${from}`;
      case "unknown":
        return "its text is not known: no call on this path writes or reads all of it";
    }
  }

  /** The index of the last operation that gives the whole text; 0: none does. */
  async #findBase(operations: readonly FileOperation[]): Promise<number> {
    for (let at = operations.length - 1; at >= 0; at -= 1) {
      const operation = operations[at];
      if (operation === undefined || operation.kind === "move") continue;
      const { kind } = await this.#changeOf(operation);
      if (kind === "write" || kind === "read" || kind === "delete") return at;
    }
    return 0;
  }

  async #apply(operation: FileOperation): Promise<void> {
    const { entryId } = operation;
    const change = await this.#changeOf(operation);
    if (change.kind === "write" || change.kind === "read") this.#set("known", change.text, entryId);
    else if (change.kind === "delete") this.#set("deleted", null, entryId);
    else if (change.kind === "move") await this.#move(change, operation);
    else if (change.kind === "edit") this.#edit(change, entryId);
    else if (change.kind === "unknown") this.#lose(entryId, change.why);
  }

  #set(state: "known" | "deleted", content: string | null, entryId: EntryId): void {
    // Earlier calls do not matter any more.
    this.entryIds.length = 0;
    this.notes.length = 0;
    this.entryIds.push(entryId);
    this.state = state;
    this.content = content;
  }

  #lose(entryId: EntryId, why: string): void {
    this.notes.push(`[${entryId}] ${why}.`);
    if (this.content !== null) this.state = "outdated";
  }

  #edit({ replacements, before }: Extract<FileChange, { kind: "edit" }>, entryId: EntryId): void {
    if (before !== null && before !== this.content) this.#set("known", before, entryId);
    const [first] = replacements;
    const creates = first?.kind === "text" && first.before === "";
    const applied = this.content === null && !creates ? undefined : applyReplacements(this.content ?? "", replacements);
    if (applied === undefined) {
      const written = first === undefined ? "" : textWritten(first);
      this.#lose(
        entryId,
        this.content === null ? `edits it; after that it contains: ${written}` : "edits a text that is not in the known one",
      );
      return;
    }
    if (this.content === null) this.state = "known";
    this.content = applied.text;
    if (this.entryIds.at(-1) !== entryId) this.entryIds.push(entryId);
  }

  /** A file that got this name has the text that it had under the other one; one that lost it is gone. */
  async #move({ from, to, replacements }: Extract<FileChange, { kind: "move" }>, { entryId, path }: FileOperation): Promise<void> {
    if (isSamePath(from, path) && !isSamePath(to, path)) {
      this.#set("deleted", null, entryId);
      return;
    }
    const earlier = await this.#stateBefore(entryId, from);
    if (earlier.content === null) {
      this.#lose(entryId, `moves ${from} here, whose text is not known`);
      return;
    }
    this.#set("known", earlier.content, entryId);
    this.entryIds.unshift(...earlier.entryIds);
    this.#edit({ kind: "edit", replacements, before: null }, entryId);
  }

  #stateBefore(entryId: EntryId, path: string): Promise<Replay> {
    const { operations, earlier } = this.#shared;
    const key = `${entryId} ${path}`;
    const before = operations.slice(
      0,
      operations.findIndex((one) => one.entryId === entryId),
    );
    const state =
      earlier.get(key) ?? new Replay(this.#session, this.#leafId, this.#shared).run(before.filter((one) => isSamePath(one.path, path)));
    earlier.set(key, state);
    return state;
  }

  async #changeOf({ kind, path, entryId, toolCallId }: FileOperation): Promise<FileChange> {
    const known = this.#shared.changes.get(`${entryId} ${toolCallId} ${path}`);
    if (known !== undefined) return known;
    const entry = await this.#session.entry(entryId);
    // Only the text of a read, and what an edit recorded, is in the result.
    const result =
      kind === "read" || kind === "edit" || kind === "write"
        ? await findResult(this.#session, entryId, toolCallId, this.#leafId)
        : undefined;
    const change = changeOfTouch(entry, { kind, path, toolCallId }, result);
    this.#shared.changes.set(`${entryId} ${toolCallId} ${path}`, change);
    return change;
  }

  /** Notes the shell commands since the last known state: what they change is unknown without running them. */
  async #noteCommands(since: EntryId, path: string): Promise<void> {
    const name = path.slice(path.lastIndexOf("/") + 1);
    let count = 0;
    const naming: EntryId[] = [];
    const scan = { leafId: this.#leafId, stopAt: since, order: "down", limit: 200, types: ["message"] } as const;
    for await (const { items } of pagesOf((cursor) => this.#session.scan({ ...scan, cursor })))
      for (const entry of items) {
        // Commands that a user ran outside of the conversation are left out.
        const scripts = isPrivate(entry) ? [] : listScripts(entry);
        count += scripts.length;
        if (scripts.some(({ script }) => script.includes(name))) naming.push(entry.id);
      }
    if (count === 0) return;
    const named =
      naming.length === 0 ? "none of them names it" : `${naming.slice(0, 5).join(", ")} ${naming.length === 1 ? "names" : "name"} it`;
    this.notes.push(`${count} shell commands ran since and may have changed it; ${named}.`);
  }
}

/** The most ids in the line about a file. */
const NAMED = 10;

/** Ids for a line: if there are many, the first one and the last ones. */
function nameSome(ids: readonly EntryId[]): string {
  if (ids.length <= NAMED) return ids.join(", ");
  return `${ids[0]}, ${ids.length - NAMED} more, ${ids.slice(1 - NAMED).join(", ")}`;
}
