import type { ContextMessage } from "@bough/session-core";
import { type SerialiseOptions, serialiseText } from "../serialise.js";
import { cutMiddle } from "../text/cut-text.js";
import { inSummary } from "../text/tags.js";

/** A session's first run: its messages up to the first answer in words (co-cli's head). */
export function firstRun(messages: readonly ContextMessage[]): readonly ContextMessage[] {
  const answer = messages.findIndex(
    (message) => message.role === "assistant" && message.content.some((block) => block.type === "text" && block.text.trim() !== ""),
  );
  return answer === -1 ? messages : messages.slice(0, answer + 1);
}

/** The same as a text for a summary, at most `maxChars` characters of it. */
export function firstRunText(messages: readonly ContextMessage[], options: SerialiseOptions, maxChars: number): string {
  return inSummary(cutMiddle(serialiseText(firstRun(messages), options), maxChars));
}
