import type { ToolCallBlock } from "../entry/block.js";
import type { EntryPayload } from "../entry/entry.js";
import { isObject } from "../entry/json.js";
import type { ToolResultMessage } from "../entry/message.js";
import type { CallTouches, FileTouch } from "./file-operation.js";
import { type FileTool, KNOWN_FILE_TOOLS, MOVE_ARGUMENTS, normalisedName, PATH_ARGUMENTS } from "./known-tools.js";
import { pathsInPatch } from "./patch-paths.js";

/** Tools of the host, by name as the model calls them; they win over the known ones. */
export type FileTools = Readonly<Record<string, FileTool>>;

type Arguments = Readonly<Record<string, unknown>>;

/**
 * The file operations that an entry brings: of the tool calls of a reply, and of the nested calls that a tool result
 * reports as done. Whether a call succeeded is known only from its result, so that is not judged here.
 */
export function fileTouches(payload: EntryPayload, tools: FileTools = {}): readonly CallTouches[] {
  if (payload.type !== "message") return [];
  const { message } = payload;
  if (message.role === "toolResult") return nestedDone(message, tools);
  if (message.role !== "assistant") return [];
  const found: CallTouches[] = [];
  for (const block of message.content) {
    if (block.type === "toolCall") found.push(...callTouches(block, tools));
  }
  return found;
}

function callTouches(call: ToolCallBlock, tools: FileTools): readonly CallTouches[] {
  const touches = touchesOf(call.name, call.arguments, tools);
  for (const nested of nestedCalls(call.arguments)) touches.push(...touchesOf(nested.name, nested.arguments, tools));
  return touches.length === 0 ? [] : [{ toolCallId: call.id, touches: unique(touches) }];
}

function touchesOf(name: string, args: Arguments, tools: FileTools): FileTouch[] {
  const tool = (Object.hasOwn(tools, name) ? tools[name] : undefined) ?? knownTool(name);
  if (tool === undefined) return [];
  if (tool.kind === "patch") return strings(args).flatMap((text) => [...pathsInPatch(text)]);
  const kind = editorCommand(args) ?? tool.kind;
  const names = tool.pathArguments ?? (tool.kind === "move" ? MOVE_ARGUMENTS : PATH_ARGUMENTS);
  return [...names.flatMap((key) => paths(args[key])), ...editedPaths(args["edits"] ?? args["replacements"])].map((path) => ({
    kind,
    path,
  }));
}

function knownTool(name: string): FileTool | undefined {
  const normal = normalisedName(name);
  const kind = Object.hasOwn(KNOWN_FILE_TOOLS, normal) ? KNOWN_FILE_TOOLS[normal] : undefined;
  return kind === undefined ? undefined : { kind };
}

// Anthropic's text editor is one tool whose `command` says what it does.
function editorCommand(args: Arguments): FileTouch["kind"] | undefined {
  if (args["command"] === "view") return "read";
  return args["command"] === "create" ? "write" : undefined;
}

// Multi-edit tools may name a file in each edit.
function editedPaths(edits: unknown): readonly string[] {
  if (!Array.isArray(edits)) return [];
  return edits.flatMap((edit) => (isObject(edit) ? PATH_ARGUMENTS.flatMap((key) => paths(edit[key])) : []));
}

function paths(value: unknown): readonly string[] {
  if (typeof value === "string") return cleaned(value);
  if (Array.isArray(value)) return value.flatMap(paths);
  return isObject(value) && typeof value["path"] === "string" ? cleaned(value["path"]) : [];
}

// A read may carry a selection (`a.ts:10-20`); an address on the web is no file.
function cleaned(given: string): readonly string[] {
  const path = given
    .trim()
    .replace(/^file:\/\//, "")
    .replace(/^\.\//, "")
    .replace(/:\d+(-\d+)?$/, "");
  return path === "" || /^[a-z][a-z+.-]+:\/\//i.test(path) || path.length > 4096 || path.includes("\n") ? [] : [path];
}

interface NamedCall {
  readonly name: string;
  readonly arguments: Arguments;
}

/** Calls inside a call: `multi_tool_use.parallel`, OpenCode's `batch` and their like. */
function nestedCalls(args: Arguments): readonly NamedCall[] {
  return Object.values(args).flatMap((value) => (Array.isArray(value) ? value.flatMap(namedCall) : []));
}

function namedCall(value: unknown): readonly NamedCall[] {
  if (!isObject(value)) return [];
  const name = value["recipient_name"] ?? value["tool_name"] ?? value["toolName"] ?? value["tool"] ?? value["name"];
  const args = value["parameters"] ?? value["arguments"] ?? value["input"] ?? value["args"];
  return typeof name === "string" && isObject(args) ? [{ name, arguments: args }] : [];
}

// pi reports the calls that a tool made itself, each with how it ended.
function nestedDone(result: ToolResultMessage, tools: FileTools): readonly CallTouches[] {
  const nested = result["nestedCalls"];
  const calls = isObject(nested) && Array.isArray(nested["calls"]) ? nested["calls"] : [];
  return calls.flatMap((call: unknown) => {
    const named = isObject(call) && call["status"] === "ok" ? namedCall(call) : [];
    const touches = named.flatMap((one) => touchesOf(one.name, one.arguments, tools));
    return touches.length === 0 ? [] : [{ toolCallId: result.toolCallId, touches: unique(touches) }];
  });
}

function unique(touches: readonly FileTouch[]): readonly FileTouch[] {
  return touches.length < 2 ? touches : [...new Map(touches.map((touch) => [`${touch.kind} ${touch.path}`, touch])).values()];
}

function strings(args: Arguments): readonly string[] {
  return Object.values(args).flatMap((value) => {
    if (typeof value === "string") return [value];
    return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
  });
}
