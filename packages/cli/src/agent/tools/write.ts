import { mkdir, stat, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { outcomeOf, type Tool, ToolFailure, textOf } from "./tool.js";

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
  run: (input, { cwd, signal }) =>
    outcomeOf(async () => {
      const [named, content] = [textOf(input, "path"), textOf(input, "content")];
      const path = resolve(cwd, named);
      const wasThere = await isThere(path, named);
      await mkdir(dirname(path), { recursive: true });
      if (signal.aborted) throw new ToolFailure("Stopped before anything was written.");
      await writeFile(path, content);
      return `${wasThere ? "Replaced" : "Made"} ${named}: ${Buffer.byteLength(content)} bytes.`;
    }),
};

async function isThere(path: string, named: string): Promise<boolean> {
  const about = await stat(path).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  });
  if (about !== undefined && !about.isFile()) throw new ToolFailure(`${named} is not a regular file.`);
  return about !== undefined;
}
