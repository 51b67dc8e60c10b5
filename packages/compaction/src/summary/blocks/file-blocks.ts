import type { FileLists } from "@bough/session-core";
import { cleanText } from "../../text/clean-text.js";
import { inSummary, tagged } from "../text/tags.js";

/** Paths that one list shows; the whole lists are in the `details` of the entry. */
const MAX_PATHS = 300;

/** The files of a summary, one path a line; pi's form. Empty lists are not shown. */
export function fileBlocks({ readFiles, modifiedFiles }: FileLists): readonly string[] {
  const blocks: string[] = [];
  if (readFiles.length > 0) blocks.push(tagged("read-files", paths(readFiles)));
  if (modifiedFiles.length > 0) blocks.push(tagged("modified-files", paths(modifiedFiles)));
  return blocks;
}

function paths(all: readonly string[]): string {
  // A path may hold anything but a line break of ours.
  const shown = all.slice(0, MAX_PATHS).map((path) => inSummary(cleanText(path).replace(/\n/g, " ")));
  return [...shown, ...(all.length > MAX_PATHS ? [`(${all.length - MAX_PATHS} more)`] : [])].join("\n");
}
