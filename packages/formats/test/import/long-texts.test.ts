import { expect, test } from "vitest";
import { requestPayload } from "../../src/co-cli/parts.js";
import { toInputMessage } from "../../src/codex/inputs.js";
import { toCompactionPayload } from "../../src/copilot/messages.js";
import { readQwenRecord } from "../../src/qwen/records.js";

// Texts come from files. Linear code takes milliseconds for each of these, a quadratic pattern minutes, a cubic one years.

test("a title of a checkpoint without an end is none, read in linear time", () => {
  const titled = (title: string) => toCompactionPayload({}, `<checkpoint_title>${title}`, { firstKeptEntryId: null })["title"];
  expect(titled(" ".repeat(300_000))).toBeUndefined();
  expect(titled(" The parser\n</checkpoint_title> …")).toBe("The parser");
});

test("a command of the user without an end is no command, read in linear time", () => {
  const content = `<user_shell_command>\n<command>\nls${"\n</command>\n<result>\n".repeat(300_000)}`;
  expect(toInputMessage({ type: "message", role: "user", content })?.message).toMatchObject({ role: "custom", customType: "codex.shell" });
});

test("a prompt without the end of its opening is its summary, read in linear time", () => {
  const content = `[CONTEXT COMPACTION — REFERENCE ONLY]${"The summary covers ".repeat(30_000)}`;
  expect(requestPayload({ part_kind: "user-prompt", content })).toMatchObject({ type: "compaction", summary: content });
});

test("a summary of empty lines is read in linear time", () => {
  const compressedHistory = [{ parts: [{ text: `short${"\n".repeat(300_000)}.` }] }];
  const record = { type: "system", subtype: "chat_compression", systemPayload: { compressedHistory } };
  const { payloads } = readQwenRecord(record, { toolName: () => undefined, findAbove: () => undefined, findLast: () => undefined });
  expect(payloads).toMatchObject([{ type: "compaction", summary: compressedHistory[0]?.parts[0]?.text }]);
});
