import type { FileLists } from "@bough/session-core";
import { cleanText } from "../../text/clean-text.js";
import { inSummary, tagged } from "../text/tags.js";

/** Paths that one list shows; the whole lists are in the `details` of the entry. */
const MAX_PATHS = 300;

/**
 * The files of a summary, one path a line; pi's form. Empty lists are not shown. Of what `mostPaths` allows for both, the
 * files that were read have what the modified ones leave.
 */
export function fileBlocks({ readFiles, modifiedFiles }: FileLists, mostPaths = 2 * MAX_PATHS): readonly string[] {
  const modified = Math.min(MAX_PATHS, modifiedFiles.length, mostPaths);
  const blocks: string[] = [];
  if (readFiles.length > 0) blocks.push(tagged("read-files", paths(readFiles, Math.min(MAX_PATHS, mostPaths - modified))));
  if (modifiedFiles.length > 0) blocks.push(tagged("modified-files", paths(modifiedFiles, modified)));
  return blocks;
}

function paths(all: readonly string[], most: number): string {
  // A path may hold anything but a line break of ours.
  const shown = all.slice(0, most).map((path) => inSummary(cleanText(path).replace(/\n/g, " ")));
  return [...shown, ...(all.length > most ? [`(${all.length - most} more)`] : [])].join("\n");
}
