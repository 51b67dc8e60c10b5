import { type EntryId, textOf } from "@bough/session-core";
import type { ToolOutput } from "./tool-output.js";

/**
 * The outputs whose text a later one repeats, where it has at least `minChars` characters (co-cli's rule); 0: none. Outputs
 * with anything but text are never the same. Only those of which `stays` is true make earlier ones superfluous. Linear in
 * the texts.
 */
export function duplicates(outputs: readonly ToolOutput[], minChars: number, stays: (output: ToolOutput) => boolean): ReadonlySet<EntryId> {
  const found = new Set<EntryId>();
  if (minChars === 0) return found;
  const later = new Set<string>();
  for (const output of outputs.toReversed()) {
    const text = onlyText(output);
    if (text === null || text.length < minChars) continue;
    if (later.has(text)) found.add(output.id);
    if (stays(output)) later.add(text);
  }
  return found;
}

function onlyText({ result: { content } }: ToolOutput): string | null {
  if (typeof content !== "string" && content.some((block) => block.type !== "text")) return null;
  return textOf(content);
}
