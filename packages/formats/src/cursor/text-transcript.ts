import type { SessionId } from "@bough/session-core";
import type { SourceRecord } from "@bough/session-core/engine";
import type { JsonObject } from "@bough/session-core/wire";
import { EntryChain } from "../source/entry-chain.js";
import { messagePayload, textBlocks } from "../source/payloads.js";
import { readStart, statPath } from "../source/source-file.js";
import { userMessages } from "./user-text.js";

/** A longer transcript is read up to here, in bytes. */
const MOST_BYTES = 2 ** 28;

const SPEAKER = /^(user|assistant|A):\s*$/;

/** True if a text is a transcript of an old version: it starts with the line `user:`. */
export function isTextTranscript(path: string): boolean {
  return /[\\/]agent-transcripts[\\/].*\.txt$/.test(path) && /^user:\s*\n/.test(readStart(path, 64).toString("utf8"));
}

/**
 * Reads a transcript of an old version: a line `user:` or `assistant:`, then the text. Calls of tools are lines of the text
 * (`[Tool call] Shell`) and stay text: their form is not known well enough to make calls of them.
 */
export function* readTextTranscript(path: string, sessionId: SessionId): Generator<SourceRecord, void, void> {
  const chain = new EntryChain(sessionId, Math.trunc(statPath(path).mtimeMs));
  const lines = readStart(path, MOST_BYTES).toString("utf8").split("\n");
  const starts = [...lines.keys()].filter((at) => SPEAKER.test(lines[at] ?? ""));
  for (const [index, at] of starts.entries()) {
    const end = starts[index + 1] ?? lines.length;
    const text = lines
      .slice(at + 1, end)
      .join("\n")
      .trim();
    let createdAtMs: number | undefined;
    const messages = toMessages(lines[at] ?? "", text, (sentAtMs) => {
      createdAtMs = sentAtMs;
    });
    for (const [part, message] of messages.entries())
      yield chain.add({ line: at + 1, part, createdAtMs, payload: messagePayload(message) });
    for (let line = at + 1; line < end; line += 1) if (lines[line]?.trim() !== "") yield { kind: "merged", line: line + 1 };
  }
}

function toMessages(speaker: string, text: string, onSent: (ms: number | undefined) => void): readonly JsonObject[] {
  if (speaker.startsWith("user")) return userMessages([{ type: "text", text }], onSent);
  return [{ role: "assistant", content: textBlocks(text) }];
}
