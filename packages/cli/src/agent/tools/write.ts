import { replaceFile } from "./checked-file.js";
import { outcomeOf, type Tool, targetOf, textOf } from "./tool.js";

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
    outcomeOf(async () => {
      const [named, content] = [textOf(input, "path"), textOf(input, "content")];
      const wasThere = await replaceFile({ target: targetOf(input, place), named, content, signal: place.signal });
      return `${wasThere ? "Replaced" : "Made"} ${named}: ${Buffer.byteLength(content)} bytes.`;
    }),
};
