import {
  type CustomMessage,
  type Entry,
  type EntryId,
  type FileTouch,
  type Session,
  type ToolCallBlock,
  type ToolResultMessage,
  textOf,
} from "@bough/session-core";
import {
  type Arguments,
  classifyCall,
  classifyTool,
  cleanPath,
  findCommand,
  findContent,
  findPatch,
  findTextEdits,
  PATCH_ARGUMENTS,
} from "@bough/session-core/view";
import { isObject } from "@bough/session-core/wire";
import type { Replacement } from "./apply-change.js";
import { readFollowing } from "./entry-source.js";
import { type FilePatch, isSamePath, parsePatchHunks } from "./patch-hunks.js";

/** The effect of a call on the text of one file. */
export type FileChange =
  /** The call writes the whole text. */
  | { readonly kind: "write"; readonly text: string }
  /** The call shows the whole text. */
  | { readonly kind: "read"; readonly text: string }
  /** `before`: the whole text that the tool recorded from before the edit; null: not recorded. */
  | { readonly kind: "edit"; readonly replacements: readonly Replacement[]; readonly before: string | null }
  | { readonly kind: "delete" }
  /** The file has another name from then on; `replacements`: also edited. */
  | { readonly kind: "move"; readonly from: string; readonly to: string; readonly replacements: readonly Replacement[] }
  /** The call changes the file in a way that cannot be replayed. `written`: texts that it writes somewhere in the file. */
  | { readonly kind: "unknown"; readonly why: string; readonly written: readonly string[] }
  /** The call shows a part of the text, or changes nothing. */
  | { readonly kind: "nothing" };

const NOTHING: FileChange = { kind: "nothing" };

/**
 * Reads the effect of a call on one of its files, from the arguments and from the texts that some agents record with the result.
 *
 * @param path The path of the file, as the call writes it.
 * @param result undefined: none is recorded.
 */
function readFileChange(call: ToolCallBlock, path: string, result: ToolResultMessage | undefined): FileChange {
  const { arguments: args } = call;
  const patch = findPatch(args)?.text ?? findSearchBlocks(args);
  if (patch !== undefined && findTextEdits(args) === undefined) return readPatch(parsePatchHunks(patch, path), path);
  switch (classifyCall(call, classifyTool)) {
    case "read":
      return result === undefined ? NOTHING : readShown(args, result);
    case "write":
      return readWrite(call, result);
    case "edit":
    case "patch":
      return readEdit(call, path, result);
    case "delete":
      return { kind: "delete" };
    case "move":
      return readMove(args);
    case "command":
    case "search":
    case "plan":
    case undefined:
      return { kind: "unknown", why: "changes it in a form that is not known", written: [] };
  }
}

/** Cline's edits: blocks of SEARCH and REPLACE in an argument for patches. */
function findSearchBlocks(args: Arguments): string | undefined {
  return PATCH_ARGUMENTS.map((name) => args[name]).find(
    (text): text is string => typeof text === "string" && /^[-<]{5,} ?SEARCH/m.test(text),
  );
}

/** The effect of a call of an entry on a file that it touches. */
export function changeOfTouch(
  entry: Entry,
  { kind, path, toolCallId }: FileTouch & { readonly toolCallId: string },
  result: ToolResultMessage | undefined,
): FileChange {
  const call = findCall(entry, toolCallId);
  if (call === undefined && kind === "delete") return { kind: "delete" };
  if (entry.type === "message" && entry.message.role === "custom" && kind === "read") return readMentioned(entry.message, path);
  const change: FileChange =
    call === undefined
      ? { kind: "unknown", why: "changes it inside of another call, which is not replayed", written: [] }
      : readFileChange(call, path, result);
  // A read of a tool that only its name tells about, or one inside of another call, changes nothing.
  return kind === "read" && change.kind === "unknown" ? NOTHING : change;
}

function findCall(entry: Entry, toolCallId: string): ToolCallBlock | undefined {
  if (entry.type !== "message" || entry.message.role !== "assistant") return undefined;
  return entry.message.content.find((block): block is ToolCallBlock => block.type === "toolCall" && block.id === toolCallId);
}

/** Most entries after a call that are read for its result: the results of a batch of calls are the next entries of the path. */
const MOST_FOLLOWING = 40;

/** The result of a call; undefined: none is recorded on the path. Cost: the entries between both. */
export async function findResult(
  session: Session,
  entryId: EntryId,
  toolCallId: string,
  leafId?: EntryId,
): Promise<ToolResultMessage | undefined> {
  for (const count of [1, 6, MOST_FOLLOWING]) {
    const following = await readFollowing(session, entryId, count, leafId);
    for (const entry of following) {
      if (entry.type === "message" && entry.message.role === "toolResult" && entry.message.toolCallId === toolCallId) return entry.message;
    }
    if (following.length < count) return undefined;
  }
  return undefined;
}

function readPatch(files: readonly FilePatch[], path: string): FileChange {
  const own = files.filter((file) => isSamePath(file.path, path) || isSamePath(file.target, path));
  const [file, other] = own;
  if (file === undefined) return { kind: "unknown", why: "has a patch in a form that is not replayed", written: [] };
  if (other !== undefined) return readTwoPatches(own);
  if (file.kind === "delete") return { kind: "delete" };
  if (file.kind === "add") return { kind: "write", text: wholeText(file) };
  if (!isSamePath(file.path, file.target)) return { kind: "move", from: file.path, to: file.target, replacements: file.hunks };
  return { kind: "edit", replacements: file.hunks, before: null };
}

/** A patch may delete a file and add it again, or edit it in two parts. */
function readTwoPatches(files: readonly FilePatch[]): FileChange {
  const last = files.at(-1);
  if (last?.kind === "add") return { kind: "write", text: wholeText(last) };
  if (files.every(({ kind, path, target }) => kind === "update" && isSamePath(path, target)))
    return { kind: "edit", replacements: files.flatMap(({ hunks }) => hunks), before: null };
  return {
    kind: "unknown",
    why: "has a patch that names it several times",
    written: files.flatMap(({ hunks }) => hunks.map((hunk) => hunk.after.join("\n"))),
  };
}

function wholeText({ hunks }: FilePatch): string {
  return `${hunks.flatMap(({ after }) => after).join("\n")}\n`;
}

function readWrite(call: ToolCallBlock, result: ToolResultMessage | undefined): FileChange {
  const text = findContent(call)?.text;
  if (text === undefined) return { kind: "unknown", why: "writes it in a form that is not known", written: [] };
  if (isChangedByUser(result)) return changedByUser([text]);
  const { arguments: args } = call;
  if (args["mode"] !== "append" && args["append"] !== true) return { kind: "write", text };
  return { kind: "edit", replacements: [{ kind: "insert", afterLine: null, text }], before: null };
}

function readEdit(call: ToolCallBlock, path: string, result: ToolResultMessage | undefined): FileChange {
  const { arguments: args, name } = call;
  const { before, after } = recordedTexts(result);
  const replacements = listReplacements(args, path) ?? listInsertions(name, args);
  const written = (replacements ?? []).map(textWritten);
  if (isChangedByUser(result)) return changedByUser(written);
  if (replacements !== undefined) return { kind: "edit", replacements, before };
  // The new text is known, and the lines that are not in the old one are those of the call.
  if (before !== null && after !== null && before !== "")
    return { kind: "edit", replacements: [{ kind: "text", before, after, all: false }], before };
  const cell = typeof args["new_source"] === "string" ? args["new_source"] : undefined;
  if (cell !== undefined) return { kind: "unknown", why: "edits a cell of a notebook, which is not replayed", written: [cellText(cell)] };
  return { kind: "unknown", why: "edits it in a form that is not replayed", written: [] };
}

function listReplacements(args: Arguments, path: string): readonly Replacement[] | undefined {
  const found = findTextEdits(args);
  const isAll = (rest: Arguments): boolean =>
    [rest["replace_all"], rest["replaceAll"], rest["change_all"], rest["allow_multiple"], rest["AllowMultiple"]].includes(true) ||
    Number(rest["expected_replacements"] ?? 1) > 1;
  // An item of a list may name another file than the call.
  const own = found?.edits.filter(({ rest }) => {
    const named = Object.entries(rest).find(([key, value]) => /^(?:file_?)?path$/i.test(key) && typeof value === "string")?.[1];
    return typeof named !== "string" || isSamePath(named, path) || cleanPath(path) === undefined;
  });
  return own?.map(({ before, after, rest }) => ({ kind: "text", before, after, all: isAll(rest) || isAll(args) }));
}

/** `insert` of a text editor, and tools that append. */
function listInsertions(name: string, args: Arguments): readonly Replacement[] | undefined {
  const text = ["insert_text", "new_str", "text", "content"].map((key) => args[key]).find((value) => typeof value === "string");
  if (typeof text !== "string") return undefined;
  const line = args["insert_line"] ?? args["insertLine"];
  if (typeof line === "number" && line >= 0) return [{ kind: "insert", afterLine: line, text }];
  return /append/i.test(name) ? [{ kind: "insert", afterLine: null, text }] : undefined;
}

/** The text that a replacement writes. */
export function textWritten(replacement: Replacement): string {
  switch (replacement.kind) {
    case "text":
      return replacement.after;
    case "lines":
      return replacement.after.join("\n");
    case "insert":
      return replacement.text;
  }
}

/** The lines of a cell as a notebook holds them: strings of JSON in a list. */
function cellText(source: string): string {
  const lines = source.split("\n");
  return lines.map((line, at) => (at < lines.length - 1 ? `${JSON.stringify(`${line}\n`)},` : JSON.stringify(line))).join("\n");
}

function readMove(args: Arguments): FileChange {
  const pick = (names: readonly string[]): string | undefined =>
    names.map((name) => args[name]).find((value): value is string => typeof value === "string");
  const from = pick(["source", "from", "old_path", "oldPath", "source_path", "sourcePath", "path", "file_path"]);
  const to = pick(["destination", "to", "new_path", "newPath", "destination_path", "destinationPath"]);
  if (from === undefined || to === undefined) return { kind: "unknown", why: "moves a file in a form that is not known", written: [] };
  return { kind: "move", from: cleanPath(from) ?? from, to: cleanPath(to) ?? to, replacements: [] };
}

// Claude Code says if the user changed a proposal before it was applied.
function isChangedByUser(result: ToolResultMessage | undefined): boolean {
  return isObject(result?.details) && result.details["userModified"] === true;
}

function changedByUser(written: readonly string[]): FileChange {
  return { kind: "unknown", why: "was changed by the user before it was applied", written };
}

interface RecordedTexts {
  readonly before: string | null;
  readonly after: string | null;
}

/** The whole texts before and after an edit: Claude Code records the first, Gemini CLI and opencode both, in an object of the details. */
function recordedTexts(result: ToolResultMessage | undefined): RecordedTexts {
  const details = result?.details;
  const places = [details, ...members(details), ...members(details).flatMap(members)].filter(isObject);
  const find = (names: readonly string[]): string | null => {
    for (const place of places) for (const name of names) if (typeof place[name] === "string") return place[name];
    return null;
  };
  return { before: find(["originalFile", "originalContent", "before"]), after: find(["newContent", "after"]) };
}

function members(value: unknown): readonly unknown[] {
  return isObject(value) ? [value["resultDisplay"], value["metadata"], value["filediff"]] : [];
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

function readShown(args: Arguments, result: ToolResultMessage): FileChange {
  const recorded = readRecorded(result.details);
  if (recorded !== undefined) return recorded;
  if (PARTIAL.some((name) => args[name] !== undefined && args[name] !== null)) return NOTHING;
  return readText(textOf(result.content));
}

/** Claude Code records what it read as `{ file: { content, startLine, numLines, totalLines } }`; undefined: nothing is recorded so. */
function readRecorded(details: unknown): FileChange | undefined {
  const recorded = isObject(details) ? details["file"] : undefined;
  if (!isObject(recorded) || typeof recorded["content"] !== "string") return undefined;
  const { content, startLine, numLines, totalLines } = recorded;
  return startLine === 1 && numLines === totalLines ? { kind: "read", text: content } : NOTHING;
}

function readText(shown: string): FileChange {
  return SHORTENED.test(shown) ? NOTHING : { kind: "read", text: withoutNumbers(shown) };
}

/** A file that the host read for the user, who mentioned it. Its text is recorded as that of a read, or in a block `<file path="…">` of its own. */
function readMentioned({ details, content }: CustomMessage, path: string): FileChange {
  const recorded = isObject(details) ? readRecorded(details["content"]) : undefined;
  if (recorded !== undefined) return recorded;
  for (const block of typeof content === "string" ? [] : content) {
    const [, name = "", text = ""] = (block.type === "text" ? FILE_BLOCK.exec(block.text) : null) ?? [];
    if (name !== "" && isSamePath(name, path)) return readText(text);
  }
  return NOTHING;
}

/** The text of a mentioned file as oh-my-pi sends it. */
const FILE_BLOCK = /^<file path="([^"\n]*)">\n([\s\S]*)\n<\/file>$/;

function withoutNumbers(text: string): string {
  const lines = text.split("\n");
  const isNumbered = lines.every((line) => line === "" || NUMBERED.test(line));
  return isNumbered ? lines.map((line) => line.replace(NUMBERED, "")).join("\n") : text;
}

/** The shell commands of an entry. `toolCallId`: null for one that the user ran. */
export function listScripts(entry: Entry): readonly { readonly script: string; readonly toolCallId: string | null }[] {
  if (entry.type !== "message") return [];
  const { message } = entry;
  if (message.role === "bashExecution") return [{ script: message.command, toolCallId: null }];
  if (message.role !== "assistant") return [];
  return message.content.flatMap((block) => {
    const command = block.type === "toolCall" ? findCommand(block) : undefined;
    return block.type === "toolCall" && command !== undefined ? [{ script: command.script, toolCallId: block.id }] : [];
  });
}

const HEREDOC =
  /^(?:cd\s+(?<folder>[^\s;&|]+)\s*&&\s*)?cat\s*(?<mode>>>?)\s*(?<path>[^\s;&|<>]+)\s*<<\s*(?:'(?<word1>\w+)'|"(?<word2>\w+)")\n(?<rest>[\s\S]*)$/;
const MOVE =
  /^(?:cd\s+(?<folder>[^\s;&|]+)\s*&&\s*)?(?:git\s+)?mv\s+(?:-\w+\s+)*(?<from>[^\s;&|<>*?$"'-][^\s;&|<>*?$"']*)\s+(?<to>[^\s;&|<>*?$"']+)\s*$/;

/** A change of a file by a shell command that does nothing else, with the path that it writes and the folder that it changes to before. */
export interface ShellChange {
  readonly path: string;
  /** "": none. */
  readonly folder: string;
  readonly change: FileChange;
}

/**
 * The change that a shell command makes, where its text alone says it: `cat > FILE <<'END'`, `mv A B`. undefined: another command.
 *
 * @example
 * readShellChange("cat > a.txt <<'EOF'\none\nEOF")?.change; // { kind: "write", text: "one\n" }
 */
export function readShellChange(call: ToolCallBlock | string): ShellChange | undefined {
  const script = (typeof call === "string" ? call : findCommand(call)?.script)?.trim();
  if (script === undefined) return undefined;
  const moved = MOVE.exec(script)?.groups;
  if (moved !== undefined) {
    const { from = "", to = "", folder = "" } = moved;
    return { path: to, folder, change: { kind: "move", from, to, replacements: [] } };
  }
  const { folder = "", mode, path = "", word1, word2, rest = "" } = HEREDOC.exec(script)?.groups ?? {};
  const end = word1 ?? word2;
  if (end === undefined) return undefined;
  const lines = rest.split("\n");
  // Something after the end of the text may change the file again.
  if (lines.indexOf(end) !== lines.length - 1) return undefined;
  const text = lines
    .slice(0, -1)
    .map((line) => `${line}\n`)
    .join("");
  return {
    path,
    folder,
    change:
      mode === ">" ? { kind: "write", text } : { kind: "edit", replacements: [{ kind: "insert", afterLine: null, text }], before: null },
  };
}
