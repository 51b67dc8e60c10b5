import type { EntryId } from "@bough/session-core";
import { type FileRead, fileReadOf } from "./file-read.js";
import type { ToolOutput } from "./tool-output.js";

/**
 * The reads of files that were read again later, with the path: a read of the whole file takes the place of every earlier
 * one, a read of a part that of the same part (oh-my-pi's rule). Whether the file changed in between does not matter: an
 * old state helps nobody. Only outputs of which `stays` is true take the place of others. Linear.
 */
export function supersededReads(outputs: readonly ToolOutput[], stays: (output: ToolOutput) => boolean): ReadonlyMap<EntryId, string> {
  const found = new Map<EntryId, string>();
  const later = new Map<string, Set<string>>();
  for (const output of outputs.toReversed()) {
    const read = fileReadOf(output);
    if (read === null) continue;
    const parts = later.get(read.path) ?? new Set();
    if (parts.has(WHOLE) || parts.has(partOf(read, output))) found.set(output.id, read.path);
    if (!output.result.isError && stays(output)) later.set(read.path, parts.add(partOf(read, output)));
  }
  return found;
}

const WHOLE = "whole";

/** A whole file that its tool cut is the same as another such one, but does not hold every part. */
function partOf({ part }: FileRead, { result }: ToolOutput): string {
  return part ?? (wasCut(result.details) ? "whole, cut" : WHOLE);
}

/** pi's and oh-my-pi's tools say in `details.truncation` that they cut. */
function wasCut(details: unknown): boolean {
  if (typeof details !== "object" || details === null) return false;
  const { truncated, truncation } = details as Readonly<Record<string, unknown>>;
  return (
    truncated === true ||
    (typeof truncation === "object" && truncation !== null && "truncated" in truncation && truncation.truncated === true)
  );
}
