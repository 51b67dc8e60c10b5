import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findingsOf, openedStore, tempFolder } from "../../../session-core/test/world/stores.js";
import { copilotFormat } from "../../src/copilot/format.js";
import { importPath } from "../../src/transfer/import-path.js";
import { drawing, MUTATIONS, mutated } from "../world/mutations.js";

const HISTORY = {
  sessionId: "578043da-10f8-4804-bd38-0fa40890fdb3",
  startTime: "2025-10-01T10:00:00.000Z",
  chatMessages: [
    { role: "system", content: "You are Copilot." },
    {
      role: "user",
      content: [
        { type: "text", text: "list the files" },
        { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
      ],
    },
    {
      role: "assistant",
      content: "Looking.",
      tool_calls: [{ id: "c1", type: "function", function: { name: "bash", arguments: '{"command":"ls"}' } }],
    },
    { role: "tool", tool_call_id: "c1", content: "a.txt" },
    { role: "assistant", content: "There is a.txt." },
    { role: "function", name: "old", content: "x" },
  ],
  timeline: [
    { type: "user", id: "t1", timestamp: "2025-10-01T10:00:05.000Z", text: "list the files" },
    {
      type: "tool_call_completed",
      id: "t2",
      timestamp: "2025-10-01T10:00:06.000Z",
      callId: "c1",
      name: "bash",
      result: { type: "success", log: "a.txt" },
    },
    { type: "error", id: "t3", timestamp: "2025-10-01T10:00:07.000Z", text: "quota" },
  ],
  selectedModel: "claude-sonnet-4.5",
};

function fileWith(content: string | Buffer): string {
  const path = join(tempFolder(), "session_578043da_1759312800000.json");
  writeFileSync(path, content);
  return path;
}

test("a session of the oldest versions has its messages, and the errors of the screen after them", () => {
  const [session] = copilotFormat.sessions(fileWith(JSON.stringify(HISTORY, null, 2)));
  expect(session?.header).toMatchObject({ sessionId: HISTORY.sessionId, createdAtMs: Date.parse(HISTORY.startTime) });
  expect([...(session?.records() ?? [])]).toMatchSnapshot();
});

test("of any mutation of it, an import takes what it can, and a second one adds nothing", async () => {
  const content = Buffer.from(JSON.stringify(HISTORY, null, 1));
  for (const [seed, name] of MUTATIONS.entries()) {
    const store = await openedStore();
    const path = fileWith(mutated(content, name, drawing(seed), content));
    const report = await importPath(store, path).catch((error: unknown) => error);
    if (report instanceof Error) {
      expect(report).toHaveProperty("code");
      continue;
    }
    expect(await findingsOf(store)).toEqual([]);
    expect((await importPath(store, path)).sessions.map(({ entriesAdded }) => entriesAdded)).toEqual([0]);
  }
});
