import { type FileHandle, readdir } from "node:fs/promises";
import { BoundedText, MAX_OUTPUT } from "./bounded-text.js";
import { openChecked, readablePath, replaceFile } from "./checked-file.js";
import { readNumber, requireTarget, requireText, type Tool, ToolFailure, toOutcome } from "./tool.js";

/** Reads a file, from a line on if wanted, or lists a folder. */
export const READ: Tool = {
  name: "read",
  description: "Read a text file, or list a folder. Long files come in parts: the end of the answer says at which line to read on.",
  inputSchema: {
    type: "object",
    properties: {
      path: { type: "string", description: "Path of the file, absolute or from the working folder." },
      offset: { type: "integer", description: "The first line to read; the first one of the file is 1." },
      limit: { type: "integer", description: "How many lines to read." },
    },
    required: ["path"],
  },
  run: (input, place) =>
    toOutcome(async () => {
      const [named, target] = [requireText(input, "path"), requireTarget(input, place)];
      const file = await openChecked(target);
      try {
        if ((await file.stat()).isDirectory()) return await listFolder(await readablePath(file, target));
        return formatPart(await readText(file, named), readNumber(input, "offset") ?? 1, readNumber(input, "limit"));
      } finally {
        await file.close();
      }
    }),
};

async function listFolder(path: string): Promise<string> {
  const names = (await readdir(path, { withFileTypes: true })).map((one) => (one.isDirectory() ? `${one.name}/` : one.name)).sort();
  const listed = new BoundedText();
  for (const name of names) listed.push(`${name}\n`);
  return names.length === 0 ? "[an empty folder]" : listed.text();
}

function formatPart(text: string, offset: number, limit: number | undefined): string {
  const lines = text.split("\n");
  // A line break at the end ends a line and begins none.
  const total = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  if (total === 0) return "[an empty file]";
  if (offset > total) throw new ToolFailure(`The file has ${total} lines; there is no line ${offset}.`);
  const wanted = Math.min(total, offset - 1 + (limit ?? total));
  const end = lastFittingLine(lines, offset - 1, wanted);
  const shown = lines
    .slice(offset - 1, end)
    .join("\n")
    .slice(0, MAX_OUTPUT)
    .toWellFormed();
  if (end === total && shown.length < MAX_OUTPUT) return shown;
  const cut = shown.length === MAX_OUTPUT ? `, cut after ${MAX_OUTPUT} characters` : "";
  return `${shown}\n[lines ${offset} to ${end} of ${total}${cut}${end < total ? `; read on with offset ${end + 1}` : ""}]`;
}

/** The line after the last one that still fits; one at least, so that reading on goes on. */
function lastFittingLine(lines: readonly string[], from: number, to: number): number {
  let room = MAX_OUTPUT;
  let at = from;
  while (at < to) {
    room -= (lines[at]?.length ?? 0) + 1;
    if (room < 0 && at > from) break;
    at += 1;
  }
  return at;
}

/** Writes a whole file, with the folders it needs. */
export const WRITE: Tool = {
  name: "write",
  description: "Write a file: make it, or replace all that is in it. Folders that are missing are made.",
  inputSchema: {
    type: "object",
    properties: {
      path: { type: "string", description: "Path of the file, absolute or from the working folder." },
      content: { type: "string", description: "All of the new content." },
    },
    required: ["path", "content"],
  },
  run: (input, place) =>
    toOutcome(async () => {
      const [named, content] = [requireText(input, "path"), requireText(input, "content")];
      const wasThere = await replaceFile({ target: requireTarget(input, place), named, content, signal: place.signal });
      return `${wasThere ? "Replaced" : "Made"} ${named}: ${Buffer.byteLength(content)} bytes.`;
    }),
};

/** Replaces a text that stands in a file exactly once. */
export const EDIT: Tool = {
  name: "edit",
  description:
    "Replace a piece of a text file. oldText must stand in the file exactly once, to the last space; give more lines around it where it does not.",
  inputSchema: {
    type: "object",
    properties: {
      path: { type: "string", description: "Path of the file, absolute or from the working folder." },
      oldText: { type: "string", description: "What stands there now." },
      newText: { type: "string", description: "What is to stand there instead." },
    },
    required: ["path", "oldText", "newText"],
  },
  run: (input, place) =>
    toOutcome(async () => {
      const [named, oldText, newText] = [requireText(input, "path"), requireText(input, "oldText"), requireText(input, "newText")];
      const target = requireTarget(input, place);
      const { text: before, about } = await readForEdit(target, named);
      const { text, line } = replaceOnce(before, oldText, newText, named);
      await replaceFile({ target, named, content: text, signal: place.signal, madeFrom: about });
      return `Replaced one place in ${named}, at line ${line}.`;
    }),
};

async function readForEdit(target: string, named: string) {
  const file = await openChecked(target);
  try {
    return { about: await file.stat(), text: await readText(file, named) };
  } finally {
    await file.close();
  }
}

/** The new text and the line of the change. @throws {ToolFailure} the old text is not there, or more than once. */
export function replaceOnce(
  text: string,
  oldText: string,
  newText: string,
  named: string,
): { readonly text: string; readonly line: number } {
  if (oldText === "") throw new ToolFailure("oldText is empty. Use the tool write for a whole file.");
  if (oldText === newText) throw new ToolFailure("oldText and newText are the same; nothing was changed.");
  // Models write line breaks as \n, also of files that have \r\n.
  const before = text.includes(oldText) || !text.includes("\r\n") ? oldText : toCrlf(oldText);
  const after = usesCrlfOnly(text) || before !== oldText ? toCrlf(newText) : newText;
  const at = text.indexOf(before);
  if (at === -1) throw new ToolFailure(`oldText is not in ${named}. Read the file and give the text exactly as it stands there.`);
  if (text.indexOf(before, at + 1) !== -1)
    throw new ToolFailure(`oldText stands in ${named} more than once. Give more of the lines around it.`);
  return { text: text.slice(0, at) + after + text.slice(at + before.length), line: text.slice(0, at).split("\n").length };
}

/** Whether every line of the file ends with \r\n; one without any line break does not tell. */
function usesCrlfOnly(text: string): boolean {
  return text.includes("\r\n") && !/(?<!\r)\n/.test(text);
}

function toCrlf(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}

/** A larger file is not read whole, in bytes. */
const MAX_BYTES = 20_000_000;

/**
 * The text of a regular file of UTF-8, byte order mark included.
 *
 * @throws {ToolFailure} it is no such file, or larger than 20 MB. Its bytes would not come back as they were.
 */
export async function readText(file: FileHandle, named: string): Promise<string> {
  const about = await file.stat();
  // A pipe or a device could be read for ever.
  if (!about.isFile()) throw new ToolFailure(`${named} is not a regular file.`);
  if (about.size > MAX_BYTES) throw new ToolFailure(`${named} has ${about.size} bytes; at most ${MAX_BYTES} are read.`);
  const bytes = await file.readFile();
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch (error) {
    // What the decoder throws for bytes that are no UTF-8.
    if (!(error instanceof TypeError)) throw error;
  }
  throw new ToolFailure(`${named} is not a text of UTF-8 (${bytes.length} bytes).`);
}
