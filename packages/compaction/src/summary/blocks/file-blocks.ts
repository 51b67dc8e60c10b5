import type { FileLists } from "@bough/session-core";
import { cleanText } from "../../text/clean-text.js";
import { pathsRelativeTo } from "../../text/relative-paths.js";
import { inSummary, tagged } from "../text/tags.js";

/** Paths that one list shows; the whole lists are in the `details` of the entry. */
const MAX_PATHS = 300;

/**
 * The files of a summary, one path a line, relative to the session's directory `cwd`; pi's form. Empty lists are not shown.
 * Of what `mostPaths` allows for both, the files that were read have what the modified ones leave.
 */
export function fileBlocks({ readFiles, modifiedFiles }: FileLists, cwd: string | null, mostPaths = 2 * MAX_PATHS): readonly string[] {
  const relative = pathsRelativeTo(cwd);
  // One file may have been named in both ways.
  const distinct = new Set(modifiedFiles.map(relative));
  const changed = [...distinct];
  const read = [...new Set(readFiles.map(relative))].filter((path) => !distinct.has(path));
  const modified = Math.min(MAX_PATHS, changed.length, mostPaths);
  const blocks: string[] = [];
  if (read.length > 0) blocks.push(tagged("read-files", paths(read, Math.min(MAX_PATHS, mostPaths - modified))));
  if (changed.length > 0) blocks.push(tagged("modified-files", paths(changed, modified)));
  return blocks;
}

function paths(all: readonly string[], most: number): string {
  // A path may hold anything but a line break of ours.
  const shown = all.slice(0, most).map((path) => inSummary(cleanText(path).replace(/\n/g, " ")));
  return [...shown, ...(all.length > most ? [`(${all.length - most} more)`] : [])].join("\n");
}
