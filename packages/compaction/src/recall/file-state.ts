import { type Entry, type EntryId, type FileOperation, type Session, type ToolCallBlock, textOf } from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import { cleanText, findCommand, findContent, findTextEdits } from "@bough/session-core/view";
import { RECALL, SESSION } from "../arguments/shapes.js";
import { readFollowing } from "./entry-source.js";
import { formatTime } from "./entry-text.js";
import { MAX_CHARS, parseInput, type RecallFileInput, type RecallOptions, recallFileInput } from "./inputs.js";
import { takeLines } from "./line-window.js";
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
  const { path, at, lines, offset } = parseInput(recallFileInput, input);
  const leafId = at === undefined ? session.leafId : await session.resolve(at);
  const operations = leafId === null ? [] : await session.fileOperations({ toId: leafId });
  const { name, touching, others } = selectFile(operations, path);
  if (name === null || leafId === null) return { text: explainMissing(path, others), data: NOTHING };
  const replay = new Replay(session, leafId);
  await replay.run(touching.filter(({ outcome }) => outcome !== "failed"));
  const { content, state, entryIds } = replay;
  const head = [`${name}: ${await replay.describe(name)}`, ...replay.notes].join("\n");
  const body = content === null ? "" : takeLines(cleanText(content), { lines: lines ?? "1-" });
  const { text, next } = takePiece(body === "" ? head : `${head}\n${body}`, offset, options.maxChars ?? MAX_CHARS);
  return { text, data: { path: name, state, content, entryIds, next } };
}

const NOTHING: RecallFileResult = { path: null, state: "unknown", content: null, entryIds: [], next: null };

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

/** Arguments of a read that shows only a part of the file. */
const PARTIAL = [
  "offset",
  "limit",
  "start",
  "end",
  "start_line",
  "end_line",
  "startLine",
  "endLine",
  "view_range",
  "line_range",
  "lines",
  "ranges",
];
/** A line of a read with its number, as Claude Code and `cat -n` print it. */
const NUMBERED = /^\s*\d+(?:\t|→|│|\| ?)/;
/** The marks that tools write where they leave something out. */
const SHORTENED = /\[(?:truncated|output truncated|showing lines|\d+ more lines|… ?\d+)|<system-reminder>/i;

/** Replays the operations on one file. */
class Replay {
  content: string | null = null;
  state: RecallFileResult["state"] = "unknown";
  readonly entryIds: EntryId[] = [];
  readonly notes: string[] = [];
  readonly #session: Session;
  readonly #leafId: EntryId;

  constructor(session: Session, leafId: EntryId) {
    this.#session = session;
    this.#leafId = leafId;
  }

  async run(operations: readonly FileOperation[]): Promise<void> {
    const base = await this.#findBase(operations);
    for (const operation of operations.slice(base)) await this.#apply(operation);
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
      if (operation === undefined || operation.kind === "edit" || operation.kind === "move") continue;
      if (operation.kind === "delete" || (await this.#readWhole(operation)) !== null) return at;
    }
    return 0;
  }

  async #apply(operation: FileOperation): Promise<void> {
    const { kind, entryId } = operation;
    if (kind === "delete") this.#set("deleted", null, entryId);
    else if (kind === "move") this.#lose(entryId, "moves a file, which is not replayed");
    else if (kind === "edit") await this.#edit(operation);
    else {
      const whole = await this.#readWhole(operation);
      if (whole !== null) this.#set("known", whole, entryId);
      else if (kind === "write") this.#lose(entryId, "writes it in a form that is not known");
    }
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

  async #edit({ entryId, toolCallId }: FileOperation): Promise<void> {
    const call = await this.#findCall(entryId, toolCallId);
    const found = call === undefined ? undefined : findTextEdits(call.arguments);
    if (found === undefined) return this.#lose(entryId, "edits it in a form that is not replayed");
    if (this.content === null) return this.#lose(entryId, `edits it; after that it contains: ${found.edits[0]?.after ?? ""}`);
    let text = this.content;
    for (const { before, after, rest } of found.edits) {
      if (before === "" || !text.includes(before)) return this.#lose(entryId, "edits a text that is not in the known one");
      const all = rest["replace_all"] === true || rest["replaceAll"] === true || call?.arguments["replace_all"] === true;
      text = all ? text.replaceAll(before, () => after) : text.replace(before, () => after);
    }
    this.content = text;
    this.entryIds.push(entryId);
  }

  /** The whole text that a call writes or reads; null: it has only a part, or none. */
  async #readWhole({ kind, entryId, toolCallId }: FileOperation): Promise<string | null> {
    const call = await this.#findCall(entryId, toolCallId);
    if (call === undefined) return null;
    if (kind === "write") return findContent(call)?.text ?? null;
    if (PARTIAL.some((name) => call.arguments[name] !== undefined && call.arguments[name] !== null)) return null;
    const result = await this.#findResult(entryId, toolCallId);
    return result === null || SHORTENED.test(result) ? null : withoutNumbers(result);
  }

  async #findCall(entryId: EntryId, toolCallId: string): Promise<ToolCallBlock | undefined> {
    const entry = await this.#session.entry(entryId);
    if (entry.type !== "message" || entry.message.role !== "assistant") return undefined;
    for (const block of entry.message.content) if (block.type === "toolCall" && block.id === toolCallId) return block;
    return undefined;
  }

  async #findResult(entryId: EntryId, toolCallId: string): Promise<string | null> {
    // The results of a batch of calls are the next entries of the path.
    for (const entry of await readFollowing(this.#session, entryId, 40, this.#leafId)) {
      if (entry.type !== "message" || entry.message.role !== "toolResult" || entry.message.toolCallId !== toolCallId) continue;
      return textOf(entry.message.content);
    }
    return null;
  }

  /** Notes the shell commands since the last known state: what they change is unknown without running them. */
  async #noteCommands(since: EntryId, path: string): Promise<void> {
    const name = path.slice(path.lastIndexOf("/") + 1);
    let count = 0;
    const naming: EntryId[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await this.#session.scan({ leafId: this.#leafId, stopAt: since, order: "down", limit: 200, types: ["message"], cursor });
      for (const entry of page.items) {
        const scripts = listScripts(entry);
        count += scripts.length;
        if (scripts.some((script) => script.includes(name))) naming.push(entry.id);
      }
      if (page.next === null) break;
      cursor = page.next;
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

function listScripts(entry: Entry): readonly string[] {
  if (entry.type !== "message") return [];
  const { message } = entry;
  // Commands that a user ran outside of the conversation are left out.
  if (message.role === "bashExecution") return message.excludeFromContext === true ? [] : [message.command];
  if (message.role !== "assistant") return [];
  return message.content.flatMap((block) => (block.type === "toolCall" ? (findCommand(block)?.script ?? []) : []));
}

function withoutNumbers(text: string): string {
  const lines = text.split("\n");
  const isNumbered = lines.every((line) => line === "" || NUMBERED.test(line));
  return isNumbered ? lines.map((line) => line.replace(NUMBERED, "")).join("\n") : text;
}
