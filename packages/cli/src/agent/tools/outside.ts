import { realpath } from "node:fs/promises";
import { dirname, isAbsolute, relative, resolve } from "node:path";
import type { ToolInput } from "./tool.js";

/**
 * Whether a call names a file outside of the working folder, links followed. For the tools that take a `path`; where a
 * command reaches cannot be told from its text.
 */
export async function reachesOutside(input: ToolInput, cwd: string): Promise<boolean> {
  const path = input["path"];
  if (typeof path !== "string") return false;
  const [folder, target] = [await existing(cwd), await existing(resolve(cwd, path))];
  const from = relative(folder, target);
  return from === ".." || from.startsWith("../") || from.startsWith("..\\") || isAbsolute(from);
}

/** The path without links, as far as it is there. */
async function existing(path: string): Promise<string> {
  let found = path;
  for (;;) {
    try {
      return resolve(await realpath(found), relative(found, path));
    } catch {
      // Not there, or not to be looked into: its folder tells where it would be.
      const above = dirname(found);
      if (above === found) return path;
      found = above;
    }
  }
}
