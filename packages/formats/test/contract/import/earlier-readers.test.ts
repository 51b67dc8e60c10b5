import type { Store } from "@bough/session-core";
import { expect, test } from "vitest";
import { openedStore } from "../../../../session-core/test/world/stores.js";
import { importedFile, treeLines } from "../../world/imported-file.js";

const ID = "578043da-10f8-4804-bd38-0fa40890fdb3";
const NAME = `session-state/${ID}/events.jsonl`;

/** Events of Copilot CLI with ids of their own; an earlier reader made nothing of those that say something beside the messages. */
const EVENTS = [
  ["start", "session.start", { sessionId: ID, version: 1, producer: "copilot-agent", context: {} }],
  ["one", "user.message", { content: "one" }],
  ["usage", "session.usage_record", { usage: { inputTokens: 9, outputTokens: 4, apiCallId: "a" } }],
  ["two", "assistant.message", { messageId: "m", content: "two", toolRequests: [], apiCallId: "a" }],
  ["began", "session.compaction_start", {}],
  ["three", "user.message", { content: "three" }],
  ["sum", "session.compaction_complete", { success: true, summaryContent: "sum" }],
  ["four", "user.message", { content: "four" }],
].map(([id, type, data], at, all) => ({
  ...{ id, type, data, parentId: all[at - 1]?.[0] ?? null },
  timestamp: new Date(1_700_000_000_000 + at * 1000).toISOString(),
}));

const beside = new Set<unknown>(["usage", "began"]);

async function messagesIn(store: Store, events: readonly object[]): Promise<readonly string[]> {
  const { sessions } = await importedFile(NAME, events, store);
  const lines = await Promise.all(sessions.map(treeLines));
  return lines.flat().filter((line) => !line.includes("foreign"));
}

test("an entry that an earlier reader stored without its usage, or with other kept entries, stays one entry", async () => {
  const [earlier, now] = [await openedStore(), await openedStore()];
  const before = await messagesIn(
    earlier,
    EVENTS.filter(({ id }) => !beside.has(id)),
  );
  const after = await messagesIn(earlier, EVENTS);
  const ids = (lines: readonly string[]) => lines.map((line) => line.split(" ")[0]);
  expect(ids(after)).toEqual(ids(before));
  expect(ids(await messagesIn(now, EVENTS))).toEqual(ids(before));
  expect(await messagesIn(earlier, EVENTS)).toEqual(after);
});
