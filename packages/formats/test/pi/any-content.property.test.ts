import { validateEntry } from "@bough/session-core/wire";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { entriesOf, recordsOf } from "./pi-files.js";

const TYPES = [
  "message",
  "model_change",
  "thinking_level_change",
  "compaction",
  "branch_summary",
  "context_edit",
  "custom",
  "custom_message",
  "usage",
  "label",
  "session_info",
  "title_change",
  "session",
  "other",
];
const ROLES = [
  "system",
  "user",
  "assistant",
  "toolResult",
  "bashExecution",
  "custom",
  "hookMessage",
  "developer",
  "pythonExecution",
  "fileMention",
  "other",
];
const BLOCKS = ["text", "image", "thinking", "redactedThinking", "toolCall", "file", "foreign", "other"];

const someOf = (fields: Record<string, fc.Arbitrary<unknown>>) => fc.record(fields, { requiredKeys: ["type"] });
const text = fc.constantFrom<unknown>("x", "", null, undefined);
const count = fc.constantFrom<unknown>(3, null, undefined);

const block = fc.record(
  {
    type: fc.constantFrom(...BLOCKS),
    text,
    data: text,
    mimeType: text,
    mediaType: fc.constantFrom<unknown>("application/pdf", "pdf", null),
    url: fc.constantFrom<unknown>("https://example.org/a", "a b", null),
    filename: text,
    thinking: text,
    thinkingSignature: text,
    id: text,
    name: text,
    arguments: fc.jsonValue(),
    originalType: text,
  },
  { requiredKeys: ["type"] },
);
const content = fc.oneof(fc.array(fc.oneof(block, fc.jsonValue())), text, count);
const message = fc.record(
  {
    role: fc.constantFrom(...ROLES),
    content,
    provider: text,
    model: text,
    usage: fc.record({ input: count, cost: fc.jsonValue() }, { requiredKeys: [] }),
    toolCallId: text,
    toolName: text,
    command: text,
    output: text,
    code: text,
    customType: text,
    files: fc.array(fc.record({ path: text, content: text, image: block }, { requiredKeys: [] })),
    details: fc.jsonValue(),
  },
  { requiredKeys: ["role"] },
);
const record = someOf({
  type: fc.constantFrom(...TYPES),
  id: fc.constantFrom<unknown>("a", "b", "c", "with space", null, undefined),
  parentId: fc.constantFrom<unknown>("a", "b", "lost", "", null, undefined, 7),
  timestamp: fc.constantFrom<unknown>("2026-01-01T00:00:00Z", "never", 1, null),
  message: fc.oneof(message, fc.jsonValue()),
  content,
  customType: text,
  modelId: text,
  model: text,
  provider: text,
  thinkingLevel: text,
  summary: text,
  title: text,
  firstKeptEntryId: text,
  firstKeptEntryIndex: count,
  tokensBefore: count,
  usage: fc.jsonValue(),
  fromId: text,
  targetId: text,
  replacement: fc.oneof(fc.record({ content }), fc.constant(null)),
  data: fc.jsonValue(),
});

describe("whatever the lines of a file hold", () => {
  test("each that is not outside the tree becomes an entry that the gate lets in", () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 6 }), fc.constantFrom(undefined, 1, 2, 3), (records, version) => {
        const header = { type: "session", id: "s", version };
        const entries = entriesOf(recordsOf(records, header));
        const outside = records.filter(({ type }) => ["label", "session_info", "title_change"].includes(String(type)));
        expect(entries.length).toBe(records.length - outside.length);
        for (const { payload } of entries) validateEntry(payload);
      }),
      { numRuns: runs(500) },
    );
  });
});
