import { openChecked, replaceFile } from "./checked-file.js";
import { readText } from "./text-file.js";
import { outcomeOf, type Tool, ToolFailure, targetOf, textOf } from "./tool.js";

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
    outcomeOf(async () => {
      const [named, oldText, newText] = [textOf(input, "path"), textOf(input, "oldText"), textOf(input, "newText")];
      const target = targetOf(input, place);
      const { text: before, about } = await fileAt(target, named);
      const { text, line } = replaced(before, oldText, newText, named);
      await replaceFile({ target, named, content: text, signal: place.signal, madeFrom: about });
      return `Replaced one place in ${named}, at line ${line}.`;
    }),
};

async function fileAt(target: string, named: string) {
  const file = await openChecked(target);
  try {
    return { about: await file.stat(), text: await readText(file, named) };
  } finally {
    await file.close();
  }
}

/** The new text and the line of the change. @throws {ToolFailure} the old text is not there, or more than once. */
export function replaced(text: string, oldText: string, newText: string, named: string): { readonly text: string; readonly line: number } {
  if (oldText === "") throw new ToolFailure("oldText is empty. Use the tool write for a whole file.");
  if (oldText === newText) throw new ToolFailure("oldText and newText are the same; nothing was changed.");
  // Models write line breaks as \n, also of files that have \r\n.
  const before = text.includes(oldText) || !text.includes("\r\n") ? oldText : withCarriageReturns(oldText);
  const after = hasOnlyCarriageReturns(text) || before !== oldText ? withCarriageReturns(newText) : newText;
  const at = text.indexOf(before);
  if (at === -1) throw new ToolFailure(`oldText is not in ${named}. Read the file and give the text exactly as it stands there.`);
  if (text.indexOf(before, at + 1) !== -1)
    throw new ToolFailure(`oldText stands in ${named} more than once. Give more of the lines around it.`);
  return { text: text.slice(0, at) + after + text.slice(at + before.length), line: text.slice(0, at).split("\n").length };
}

/** Whether every line of the file ends with \r\n; one without any line break does not tell. */
function hasOnlyCarriageReturns(text: string): boolean {
  return text.includes("\r\n") && !/(?<!\r)\n/.test(text);
}

function withCarriageReturns(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}
