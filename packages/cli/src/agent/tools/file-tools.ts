import { type FileHandle, readdir } from "node:fs/promises";
import { BoundedText, MAX_OUTPUT } from "./bounded-text.js";
import { openChecked, readablePath, replaceFile } from "./checked-file.js";
import { readNumber, requireTarget, requireText, type Tool, ToolFailure, toOutcome } from "./tool.js";

/** Reads a file or a range of its lines, or lists a folder. */
export const READ: Tool = {
  name: "read",
  description: "Read a text file, or list a folder. Long files are returned in parts: the end of the result names the next offset.",
  inputSchema: {
    type: "object",
    properties: {
      path: { type: "string", description: "Path of the file, absolute or relative to the working directory." },
      offset: { type: "integer", description: "The first line to read; lines start at 1." },
      limit: { type: "integer", description: "The number of lines to read." },
    },
    required: ["path"],
  },
  run: (input, context) =>
    toOutcome(async () => {
      const [givenPath, target] = [requireText(input, "path"), requireTarget(input, context)];
      const file = await openChecked(target);
      try {
        if ((await file.stat()).isDirectory()) return await listFolder(await readablePath(file, target));
        return formatPart(await readText(file, givenPath), readNumber(input, "offset") ?? 1, readNumber(input, "limit"));
      } finally {
        await file.close();
      }
    }),
};

async function listFolder(path: string): Promise<string> {
  const names = (await readdir(path, { withFileTypes: true })).map((one) => (one.isDirectory() ? `${one.name}/` : one.name)).sort();
  const listed = new BoundedText();
  for (const name of names) listed.push(`${name}\n`);
  return names.length === 0 ? "[empty folder]" : listed.text();
}

function formatPart(text: string, offset: number, limit: number | undefined): string {
  const lines = text.split("\n");
  // A line break at the end of the file does not start another line.
  const total = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  if (total === 0) return "[empty file]";
  if (offset > total) throw new ToolFailure(`The file has ${total} lines; there is no line ${offset}.`);
  const lastLine = Math.min(total, offset - 1 + (limit ?? total));
  const end = lastFittingLine(lines, offset - 1, lastLine);
  const shown = lines
    .slice(offset - 1, end)
    .join("\n")
    .slice(0, MAX_OUTPUT)
    .toWellFormed();
  if (end === total && shown.length < MAX_OUTPUT) return shown;
  const cut = shown.length === MAX_OUTPUT ? `, cut after ${MAX_OUTPUT} characters` : "";
  return `${shown}\n[lines ${offset} to ${end} of ${total}${cut}${end < total ? `; continue with offset ${end + 1}` : ""}]`;
}

/** The index after the last line that fits; at least one line, so that each call makes progress. */
function lastFittingLine(lines: readonly string[], from: number, to: number): number {
  let charsLeft = MAX_OUTPUT;
  let at = from;
  while (at < to) {
    charsLeft -= (lines[at]?.length ?? 0) + 1;
    if (charsLeft < 0 && at > from) break;
    at += 1;
  }
  return at;
}

/** Writes a whole file and creates missing folders. */
export const WRITE: Tool = {
  name: "write",
  description: "Write a file: create it, or replace its content. Missing folders are created.",
  inputSchema: {
    type: "object",
    properties: {
      path: { type: "string", description: "Path of the file, absolute or relative to the working directory." },
      content: { type: "string", description: "The new content of the file." },
    },
    required: ["path", "content"],
  },
  run: (input, context) =>
    toOutcome(async () => {
      const [givenPath, content] = [requireText(input, "path"), requireText(input, "content")];
      const existed = await replaceFile({ target: requireTarget(input, context), givenPath, content, signal: context.signal });
      return `${existed ? "Replaced" : "Created"} ${givenPath}: ${Buffer.byteLength(content)} bytes.`;
    }),
};

/** Replaces a text that occurs exactly once in a file. */
export const EDIT: Tool = {
  name: "edit",
  description:
    "Replace a text in a file. oldText must occur exactly once in the file, including whitespace; if it occurs more often, include more of the surrounding lines.",
  inputSchema: {
    type: "object",
    properties: {
      path: { type: "string", description: "Path of the file, absolute or relative to the working directory." },
      oldText: { type: "string", description: "The text to replace." },
      newText: { type: "string", description: "The new text." },
    },
    required: ["path", "oldText", "newText"],
  },
  run: (input, context) =>
    toOutcome(async () => {
      const [givenPath, oldText, newText] = [requireText(input, "path"), requireText(input, "oldText"), requireText(input, "newText")];
      const target = requireTarget(input, context);
      const { text: before, stats } = await readForEdit(target, givenPath);
      const { text, line } = replaceOnce(before, oldText, newText, givenPath);
      await replaceFile({ target, givenPath, content: text, signal: context.signal, basedOn: stats });
      return `Replaced one occurrence in ${givenPath}, at line ${line}.`;
    }),
};

async function readForEdit(target: string, givenPath: string) {
  const file = await openChecked(target);
  try {
    return { stats: await file.stat(), text: await readText(file, givenPath) };
  } finally {
    await file.close();
  }
}

/** Replaces `oldText`; returns the new text and the line of the change. @throws {ToolFailure} `oldText` does not occur exactly once. */
export function replaceOnce(
  text: string,
  oldText: string,
  newText: string,
  givenPath: string,
): { readonly text: string; readonly line: number } {
  if (oldText === "") throw new ToolFailure("oldText is empty. Use the `write` tool to write a whole file.");
  if (oldText === newText) throw new ToolFailure("oldText and newText are equal; nothing was changed.");
  // Models send line breaks as \n, also for files with \r\n.
  const before = text.includes(oldText) || !text.includes("\r\n") ? oldText : toCrlf(oldText);
  const after = usesCrlfOnly(text) || before !== oldText ? toCrlf(newText) : newText;
  const at = text.indexOf(before);
  if (at === -1) throw new ToolFailure(`oldText does not occur in ${givenPath}. Read the file and copy the text exactly.`);
  if (text.indexOf(before, at + 1) !== -1)
    throw new ToolFailure(`oldText occurs more than once in ${givenPath}. Include more of the surrounding lines.`);
  return { text: text.slice(0, at) + after + text.slice(at + before.length), line: text.slice(0, at).split("\n").length };
}

/** True if every line of the text ends with \r\n; false if there is no line break. */
function usesCrlfOnly(text: string): boolean {
  return text.includes("\r\n") && !/(?<!\r)\n/.test(text);
}

function toCrlf(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}

/** Maximum size of a file, in bytes. */
const MAX_BYTES = 20_000_000;

/**
 * Reads a regular file as UTF-8, including a byte order mark.
 *
 * @throws {ToolFailure} the file is not a regular file, larger than 20 MB, or not UTF-8: writing it back would change its bytes.
 */
async function readText(file: FileHandle, givenPath: string): Promise<string> {
  const stats = await file.stat();
  // Reading a pipe or a device may never end.
  if (!stats.isFile()) throw new ToolFailure(`${givenPath} is not a regular file.`);
  if (stats.size > MAX_BYTES) throw new ToolFailure(`${givenPath} has ${stats.size} bytes; the maximum is ${MAX_BYTES}.`);
  const bytes = await file.readFile();
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch (error) {
    // The decoder throws TypeError for invalid UTF-8.
    if (!(error instanceof TypeError)) throw error;
  }
  throw new ToolFailure(`${givenPath} is not UTF-8 text (${bytes.length} bytes).`);
}
