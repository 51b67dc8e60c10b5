import { type EntryId, textOf } from "@bough/session-core";
import { type FileRead, fileReadOf, type ToolOutput } from "./tool-output.js";

/**
 * The reads of files that were read again later, with the path: a read of the whole file takes the place of every earlier
 * one, a read of a part that of the same part (oh-my-pi's rule). Whether the file changed in between does not matter: an
 * old state helps nobody. Only outputs of which `stays` is true take the place of others. Linear.
 */
export function findSupersededReads(outputs: readonly ToolOutput[], stays: (output: ToolOutput) => boolean): ReadonlyMap<EntryId, string> {
  const found = new Map<EntryId, string>();
  const later = new Map<string, Set<string>>();
  for (const output of outputs.toReversed()) {
    const read = fileReadOf(output);
    if (read === null) continue;
    const parts = later.get(read.path) ?? new Set();
    if (parts.has(WHOLE) || parts.has(identifyPart(read, output))) found.set(output.id, read.path);
    if (!output.result.isError && stays(output)) later.set(read.path, parts.add(identifyPart(read, output)));
  }
  return found;
}

const WHOLE = "whole";

/** A whole file that its tool cut is the same as another such one, but does not hold every part. */
function identifyPart({ part }: FileRead, { result }: ToolOutput): string {
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

/**
 * The outputs whose text a later one repeats, where it has at least `minChars` characters (co-cli's rule); 0: none. Outputs
 * with anything but text are never the same. Only those of which `stays` is true make earlier ones superfluous. Linear in
 * the texts.
 */
export function findDuplicates(
  outputs: readonly ToolOutput[],
  minChars: number,
  stays: (output: ToolOutput) => boolean,
): ReadonlySet<EntryId> {
  const found = new Set<EntryId>();
  if (minChars === 0) return found;
  const later = new Set<string>();
  for (const output of outputs.toReversed()) {
    const text = readPlainText(output);
    if (text === null || text.length < minChars) continue;
    if (later.has(text)) found.add(output.id);
    if (stays(output)) later.add(text);
  }
  return found;
}

function readPlainText({ result: { content } }: ToolOutput): string | null {
  if (typeof content !== "string" && content.some((block) => block.type !== "text")) return null;
  return textOf(content);
}
