import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { readText } from "./text-file.js";
import { outcomeOf, type Tool, ToolFailure, textOf } from "./tool.js";

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
  run: (input, { cwd, signal }) =>
    outcomeOf(async () => {
      const [named, oldText, newText] = [textOf(input, "path"), textOf(input, "oldText"), textOf(input, "newText")];
      const path = resolve(cwd, named);
      const { text, line } = replaced(await readText(path, named), oldText, newText, named);
      if (signal.aborted) throw new ToolFailure("Stopped before anything was written.");
      await writeFile(path, text);
      return `Replaced one place in ${named}, at line ${line}.`;
    }),
};

/** The new text and the line of the change. @throws {ToolFailure} the old text is not there, or more than once. */
export function replaced(text: string, oldText: string, newText: string, named: string): { readonly text: string; readonly line: number } {
  if (oldText === "") throw new ToolFailure("oldText is empty. Use the tool write for a whole file.");
  if (oldText === newText) throw new ToolFailure("oldText and newText are the same; nothing was changed.");
  // Models write line breaks as \n, also of files that have \r\n.
  const asInFile = text.includes(oldText) || !text.includes("\r\n") ? [oldText, newText] : [oldText, newText].map(withCarriageReturns);
  const [before = "", after = ""] = asInFile;
  const at = text.indexOf(before);
  if (at === -1) throw new ToolFailure(`oldText is not in ${named}. Read the file and give the text exactly as it stands there.`);
  if (text.indexOf(before, at + 1) !== -1)
    throw new ToolFailure(`oldText stands in ${named} more than once. Give more of the lines around it.`);
  return { text: text.slice(0, at) + after + text.slice(at + before.length), line: text.slice(0, at).split("\n").length };
}

function withCarriageReturns(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}
