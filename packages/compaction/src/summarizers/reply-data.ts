import { InvalidEntryError, normalizeUsage, type StopReason, stopReasonOf, type Usage } from "@bough/session-core";
import type { ReplyEnd } from "./reply.js";

const ENDS: ReadonlyMap<string, ReplyEnd> = new Map<StopReason, ReplyEnd>([
  ["stop", "stop"],
  ["length", "length"],
  ["toolUse", "tool-calls"],
  ["contentFilter", "content-filter"],
]);

/** Returns the reason why a reply ended, from the finish reason of a server or of the AI SDK. */
export function readReplyEnd(finishReason: string): ReplyEnd {
  return ENDS.get(stopReasonOf(finishReason)) ?? "unknown";
}

/** The usage that a server or the AI SDK reports; undefined: no count that is known. A summary is worth more than its count of tokens. */
export function readReplyUsage(given: object | null | undefined): Usage | undefined {
  try {
    const usage = normalizeUsage(given ?? {});
    return Object.keys(usage).length === 0 ? undefined : usage;
  } catch (error) {
    if (error instanceof InvalidEntryError) return undefined;
    throw error;
  }
}
