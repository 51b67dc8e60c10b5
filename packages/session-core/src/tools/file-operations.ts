import { checkArgument } from "../arguments/rules.js";
import { FILE_OPERATIONS } from "../arguments/shapes.js";
import { groupBy } from "../collections/group-by.js";
import type { FileLists } from "../entry/entry.js";
import { isObject } from "../entry/json.js";
import type { CustomMessage, Message, ToolResultMessage, UserMessage } from "../entry/message.js";
import type { EntryId, SessionId } from "../ids/ids.js";
import {
  type Arguments,
  classifyCall,
  EDIT_LIST_ARGUMENTS,
  MOVE_ARGUMENTS,
  type NamedCall,
  PATCH_ARGUMENTS,
  PATH_ARGUMENTS,
  type TextArgument,
} from "./arguments.js";
import { type FileTool, type FileTools, findKnownToolKind, type ToolKind } from "./known-tools.js";

/** The kind of an operation on a file. A move touches two: the old path and the new path. */
export type FileOperationKind = "read" | "write" | "edit" | "delete" | "move";

/** One file that a tool call names, and the operation of the call on it. */
export interface FileTouch {
  readonly kind: FileOperationKind;
  readonly path: string;
}

/** `done`: its result is not an error. `failed`: its result is an error. `unknown`: no result in this range. */
export type FileOperationOutcome = "done" | "failed" | "unknown";

/** One file operation of a range of a path. */
export interface FileOperation extends FileTouch {
  /** The entry that holds the call (or, of a nested call, its result). */
  readonly entryId: EntryId;
  /** Empty: no call of the model, as for a file that the user mentioned. */
  readonly toolCallId: string;
  readonly outcome: FileOperationOutcome;
}

/** One call of a store that touches a file, with what is needed to find and to order it. */
export interface StoredFileTouch extends FileTouch {
  readonly sessionId: SessionId;
  /** The directory of the session, against which a relative path resolves; null: unknown. */
  readonly cwd: string | null;
  /** The entry that holds the call (or, of a nested call, its result). */
  readonly entryId: EntryId;
  /** Empty: as in `FileOperation`. */
  readonly toolCallId: string;
  readonly createdAtMs: number;
  /** True if the entry is a copy of one in another session, made by a fork or a resume. */
  readonly isCopy: boolean;
}

/** The file operations of one call, without a position in a session. */
interface CallTouches {
  readonly toolCallId: string;
  readonly touches: readonly FileTouch[];
}

/**
 * The file operations of a message: of the tool calls of a reply, and of the nested calls that a tool result or a message of the
 * host reports as done. Whether a call succeeded is known only from its result, so failed calls are included.
 */
function listFileTouches(message: Exclude<Message, UserMessage>, tools: FileTools): readonly CallTouches[] {
  if (message.role === "toolResult") return listNestedTouches(message, message.toolCallId, tools);
  if (message.role === "custom") return listNestedTouches(message, "", tools);
  if (message.role !== "assistant") return [];
  const found: CallTouches[] = [];
  for (const block of message.content) {
    const touches = block.type === "toolCall" ? listCallTouches(block, tools) : [];
    if (block.type === "toolCall" && touches.length > 0) found.push({ toolCallId: block.id, touches });
  }
  return found;
}

/**
 * The files that one call touches, also through nested calls (`multi_tool_use.parallel`, OpenCode's `batch`).
 *
 * @param kindOf The kind of a tool by its name; default: that of known tools.
 */
export function listCallTouches(
  call: NamedCall,
  tools: FileTools = {},
  kindOf: (name: string) => ToolKind | undefined = findKnownToolKind,
): readonly FileTouch[] {
  const own = listTouches(call, tools, kindOf);
  const nested = listNestedCalls(call.arguments);
  return removeDuplicates(nested.length === 0 ? own : [...own, ...nested.flatMap((one) => listTouches(one, tools, kindOf))]);
}

function listTouches(call: NamedCall, tools: FileTools, kindOf: (name: string) => ToolKind | undefined): readonly FileTouch[] {
  const own: FileTool | undefined = Object.hasOwn(tools, call.name) ? tools[call.name] : undefined;
  const kind = classifyCall(call, own === undefined ? kindOf : () => own.kind);
  if (kind === undefined || kind === "search" || kind === "plan") return [];
  const { arguments: args } = call;
  // The files that a shell command touches are unknown without running it, but a patch passed to it can be read.
  if (kind === "patch" || kind === "command") return Object.values(args).flatMap(collectStrings).flatMap(parsePatch);
  const names = own?.pathArguments ?? (kind === "move" ? MOVE_ARGUMENTS : PATH_ARGUMENTS);
  const touches: FileTouch[] = [];
  for (const name of names) {
    if (args[name] !== undefined) for (const path of collectPaths(args[name])) touches.push({ kind, path });
  }
  for (const name of EDIT_LIST_ARGUMENTS) for (const path of collectEditedPaths(args[name])) touches.push({ kind, path });
  return touches;
}

/** The longest path of Linux, in UTF-16 code units. */
const MAX_PATH_CHARS = 4_096;

// Multi-edit tools may name a file in each edit.
function collectEditedPaths(edits: unknown): readonly string[] {
  if (!Array.isArray(edits)) return [];
  return edits.flatMap((edit) =>
    isObject(edit) ? PATH_ARGUMENTS.flatMap((key) => (edit[key] === undefined ? [] : collectPaths(edit[key]))) : [],
  );
}

function collectPaths(value: unknown): readonly string[] {
  if (typeof value === "string") return [cleanPath(value) ?? []].flat();
  if (Array.isArray(value)) return value.flatMap(collectPaths);
  return isObject(value) && typeof value["path"] === "string" ? collectPaths(value["path"]) : [];
}

/** A path without `file://`, `./` and line numbers (`a.ts:10-20`); undefined: it names no file. */
export function cleanPath(given: string): string | undefined {
  const path = given
    .trim()
    .replace(/^file:\/\//, "")
    .replace(/^(?:\.\/)+/, "")
    .replace(/:\d+(?:[-:]\d+)?$/, "");
  return path === "" || path.length > MAX_PATH_CHARS || /[\n\0]|^[a-z][a-z+.-]+:\/\//i.test(path) ? undefined : path;
}

function listNestedCalls(args: Arguments): readonly NamedCall[] {
  return Object.values(args).flatMap((value) => (Array.isArray(value) ? value.flatMap(readNamedCall) : []));
}

function readNamedCall(value: unknown): readonly NamedCall[] {
  if (!isObject(value)) return [];
  const name = value["recipient_name"] ?? value["tool_name"] ?? value["toolName"] ?? value["tool"] ?? value["name"];
  const args = value["parameters"] ?? value["arguments"] ?? value["input"] ?? value["args"];
  return typeof name === "string" && isObject(args) ? [{ name, arguments: args }] : [];
}

// pi reports the calls that a tool made itself, each with its outcome. A message of the host has those that the host made for the user.
function listNestedTouches(message: ToolResultMessage | CustomMessage, toolCallId: string, tools: FileTools): readonly CallTouches[] {
  const nested = message["nestedCalls"];
  const calls = isObject(nested) && Array.isArray(nested["calls"]) ? nested["calls"] : [];
  return calls.flatMap((call: unknown) => {
    const named = isObject(call) && call["status"] === "ok" ? readNamedCall(call) : [];
    const touches = named.flatMap((one) => listTouches(one, tools, findKnownToolKind));
    return touches.length === 0 ? [] : [{ toolCallId, touches: removeDuplicates(touches) }];
  });
}

function removeDuplicates(touches: readonly FileTouch[]): readonly FileTouch[] {
  return touches.length < 2 ? touches : [...new Map(touches.map((touch) => [`${touch.kind} ${touch.path}`, touch])).values()];
}

function collectStrings(value: unknown): readonly string[] {
  return [value].flat().filter((one): one is string => typeof one === "string");
}

/**
 * The two lists that summaries contain, each sorted and without repeats: what was changed, and what was only read.
 * A failed operation counts as not done (rule from pi's file tags: read minus modified).
 */
export function fileLists(operations: readonly FileOperation[]): FileLists {
  checkArgument("operations", operations, FILE_OPERATIONS);
  const done = operations.filter((operation) => operation.outcome !== "failed");
  const modified = new Set(done.filter((operation) => operation.kind !== "read").map((operation) => operation.path));
  const read = new Set(done.map((operation) => operation.path).filter((path) => !modified.has(path)));
  return { readFiles: [...read].sort(), modifiedFiles: [...modified].sort() };
}

const PATCH_LINE = /^\*\*\* (Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$/;
const UNIFIED_LINE = /^(---|\+\+\+) (?:[ab]\/)?([^\t]+)/;

const HUNKS = /^(?:\*\*\* Begin Patch|--- |diff --git |@@ )/m;

/**
 * The files a patch touches: Codex's `*** Begin Patch` form (Add, Update, Delete, Move to) or a unified diff.
 *
 * @example
 * parsePatch("*** Begin Patch\n*** Delete File: a.ts\n*** End Patch"); // [{ kind: "delete", path: "a.ts" }]
 */
function parsePatch(text: string): readonly FileTouch[] {
  if (text.includes("*** Begin Patch")) return parseCodexPatch(text);
  return /^--- .+\n\+\+\+ /m.test(text) ? parseUnifiedDiff(text) : [];
}

function parseCodexPatch(text: string): readonly FileTouch[] {
  const touches: FileTouch[] = [];
  for (const line of text.split(/\r?\n/)) {
    const [, verb, path, target] = PATCH_LINE.exec(line) ?? [];
    if (verb !== undefined && path !== undefined) touches.push({ kind: verbKind(verb), path: path.trim() });
    if (target !== undefined) touches.push({ kind: "move", path: target.trim() });
  }
  return touches;
}

function verbKind(verb: string): FileTouch["kind"] {
  if (verb === "Add") return "write";
  return verb === "Delete" ? "delete" : "edit";
}

function parseUnifiedDiff(text: string): readonly FileTouch[] {
  const touches: FileTouch[] = [];
  let before: string | undefined;
  for (const line of text.split(/\r?\n/)) {
    const [, side, path] = UNIFIED_LINE.exec(line) ?? [];
    if (side === "---") before = path?.trim();
    if (side !== "+++" || path === undefined || before === undefined) continue;
    const after = path.trim();
    if (after === "/dev/null") touches.push({ kind: "delete", path: before });
    else touches.push({ kind: before === "/dev/null" ? "write" : "edit", path: after });
    before = undefined;
  }
  return touches;
}

/** The patch of a call: any argument with a patch that names its files, or an argument for patches with hunks only. */
export function findPatch(args: Arguments): TextArgument | undefined {
  for (const [name, value] of Object.entries(args)) {
    const isPatch = (text: string) => parsePatch(text).length > 0 || (PATCH_ARGUMENTS.includes(name) && HUNKS.test(text));
    const text = [value].flat().find((one): one is string => typeof one === "string" && isPatch(one));
    if (text !== undefined) return { name, text };
  }
  return undefined;
}

/** A file that a tool call of an entry touches, as it is stored. */
export interface StoredOperation {
  readonly tool_call_id: string;
  readonly kind: FileOperationKind;
  readonly path: string;
  /** 1: a tool that the call ran, or the host for the user, touched the file: that has ended. */
  readonly nested: 0 | 1;
}

/** The files that the tool calls of a message touch, in order. A message of the user has no calls. */
export function listOperations(message: Exclude<Message, UserMessage>, tools: FileTools): readonly StoredOperation[] {
  const nested = message.role === "assistant" ? 0 : 1;
  return listFileTouches(message, tools).flatMap(({ toolCallId, touches }) =>
    touches.map(({ kind, path }) => ({ tool_call_id: toolCallId, kind, path: path.toWellFormed(), nested })),
  );
}

/** An operation of a path, with its entry. */
export interface OperationRow extends StoredOperation {
  readonly entry_seq: number;
  readonly entry_id: string;
}

/** A tool result of a path. */
export interface ResultRow {
  readonly seq: number;
  readonly call_id: string | null;
  readonly failed: boolean | 0 | 1;
}

/** Returns the operations of a part of a path, oldest first, each with the outcome in its result. `results`: of that part, newest first. */
export function withOutcomes(operations: readonly OperationRow[], results: readonly ResultRow[]): readonly FileOperation[] {
  // Another branch may hold another result of the same call, so only results on this path count. A later reply may use the
  // same id again, so a call takes the first result after it.
  const byCall = groupBy(results, ({ call_id }) => call_id);
  return operations.map((row) => ({
    entryId: row.entry_id,
    toolCallId: row.tool_call_id,
    kind: row.kind,
    path: row.path,
    outcome: row.nested === 1 ? "done" : takeOutcome(row.entry_seq, byCall.get(row.tool_call_id) ?? []),
  }));
}

/** Returns the outcome of a call. Removes the results before it: calls come oldest first, so no later call needs them. */
function takeOutcome(call: number, newestFirst: ResultRow[]): FileOperation["outcome"] {
  while ((newestFirst.at(-1)?.seq ?? Number.POSITIVE_INFINITY) <= call) newestFirst.pop();
  const result = newestFirst.at(-1);
  if (result === undefined) return "unknown";
  return result.failed ? "failed" : "done";
}
