import type { EntryId } from "@bough/session-core";
import type { ToolOutput } from "./tool-output.js";

/** The outputs behind the newest `protectTokens` tokens of tool output (pi's and oh-my-pi's age rule). Linear. */
export function agedOutputs(outputs: readonly ToolOutput[], protectTokens: number): ReadonlySet<EntryId> {
  const aged = new Set<EntryId>();
  let newer = 0;
  for (const { id, tokens } of outputs.toReversed()) {
    newer += tokens;
    if (newer > protectTokens) aged.add(id);
  }
  return aged;
}
