import { type EntryId, textOf } from "@bough/session-core";
import { type FileRead, parseFileRead, type ToolOutput } from "./tool-output.js";

/**
 * Reads of files that were read again later, with the path. A read of a whole file supersedes every earlier read of it, a
 * read of a part supersedes earlier reads of the same part. This also applies if the file changed in between, because the
 * earlier content is outdated. Only outputs for which `stays` is true supersede others. Linear.
 */
export function findSupersededReads(outputs: readonly ToolOutput[], stays: (output: ToolOutput) => boolean): ReadonlyMap<EntryId, string> {
  const superseded = new Map<EntryId, string>();
  const later = new Map<string, Set<string>>();
  for (const output of outputs.toReversed()) {
    const read = parseFileRead(output);
    if (read === null) continue;
    const parts = later.get(read.path) ?? new Set();
    if (parts.has(WHOLE) || parts.has(identifyPart(read, output))) superseded.set(output.id, read.path);
    if (!output.result.isError && stays(output)) later.set(read.path, parts.add(identifyPart(read, output)));
  }
  return superseded;
}

const WHOLE = "whole";

/** The part of a file that an output has. A whole file that its tool truncated is a part of its own. */
function identifyPart({ part }: FileRead, { result }: ToolOutput): string {
  return part ?? (wasCut(result.details) ? "whole, cut" : WHOLE);
}

/** pi's and oh-my-pi's tools set `details.truncation` when they truncate. */
function wasCut(details: unknown): boolean {
  if (typeof details !== "object" || details === null) return false;
  const { truncated, truncation }: Readonly<Record<string, unknown>> = { ...details };
  return (
    truncated === true ||
    (typeof truncation === "object" && truncation !== null && "truncated" in truncation && truncation.truncated === true)
  );
}

/**
 * The outputs whose text occurs again in a later output and has at least `minChars` characters; 0 disables. Outputs with
 * anything but text never match. Only outputs for which `stays` is true count as later copies. Linear in the texts.
 */
export function findDuplicates(
  outputs: readonly ToolOutput[],
  minChars: number,
  stays: (output: ToolOutput) => boolean,
): ReadonlySet<EntryId> {
  const duplicates = new Set<EntryId>();
  if (minChars === 0) return duplicates;
  const later = new Set<string>();
  for (const output of outputs.toReversed()) {
    const text = readPlainText(output);
    if (text === null || text.length < minChars) continue;
    if (later.has(text)) duplicates.add(output.id);
    if (stays(output)) later.add(text);
  }
  return duplicates;
}

function readPlainText({ result: { content } }: ToolOutput): string | null {
  if (typeof content !== "string" && content.some((block) => block.type !== "text")) return null;
  return textOf(content);
}
