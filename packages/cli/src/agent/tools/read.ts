import { readdir } from "node:fs/promises";
import { BoundedText, MAX_OUTPUT } from "./bounded-text.js";
import { openChecked, pathOfOpen } from "./checked-file.js";
import { readText } from "./text-file.js";
import { numberOf, outcomeOf, type Tool, ToolFailure, targetOf, textOf } from "./tool.js";

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
    outcomeOf(async () => {
      const [named, target] = [textOf(input, "path"), targetOf(input, place)];
      const file = await openChecked(target);
      try {
        if ((await file.stat()).isDirectory()) return await listing(await pathOfOpen(file, target));
        return part(await readText(file, named), numberOf(input, "offset") ?? 1, numberOf(input, "limit"));
      } finally {
        await file.close();
      }
    }),
};

async function listing(path: string): Promise<string> {
  const names = (await readdir(path, { withFileTypes: true })).map((one) => (one.isDirectory() ? `${one.name}/` : one.name)).sort();
  const listed = new BoundedText();
  for (const name of names) listed.push(`${name}\n`);
  return names.length === 0 ? "[an empty folder]" : listed.text();
}

function part(text: string, offset: number, limit: number | undefined): string {
  const lines = text.split("\n");
  // A line break at the end ends a line and begins none.
  const total = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  if (total === 0) return "[an empty file]";
  if (offset > total) throw new ToolFailure(`The file has ${total} lines; there is no line ${offset}.`);
  const wanted = Math.min(total, offset - 1 + (limit ?? total));
  const end = fitting(lines, offset - 1, wanted);
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
function fitting(lines: readonly string[], from: number, to: number): number {
  let room = MAX_OUTPUT;
  let at = from;
  while (at < to) {
    room -= (lines[at]?.length ?? 0) + 1;
    if (room < 0 && at > from) break;
    at += 1;
  }
  return at;
}
