import { dirname, join } from "node:path";
import type { SourceRecord } from "@bough/session-core/engine";
import { describe, expect, test } from "vitest";
import { openedStore } from "../../../../session-core/test/world/stores.js";
import { importPath } from "../../../src/transfer/import-path.js";
import { fileOf, imported, sourceOf } from "../../world/sources.js";

describe("a title in the header", () => {
  test("is given to a session that was imported before its source had it", async () => {
    const store = await openedStore();
    await imported(store, sourceOf("u1"));
    await imported(store, sourceOf("u1", [], { title: "Look around" }));
    expect(await (await store.openSession("s")).record()).toMatchObject({ title: "Look around", titleSource: "auto" });
  });

  test("replaces the one that an earlier header gave", async () => {
    const store = await openedStore();
    for (const title of ["Look", "Look around", undefined]) await imported(store, sourceOf("u1", [], { title }));
    expect(await (await store.openSession("s")).record()).toMatchObject({ title: "Look around", titleSource: "auto" });
  });

  test("replaces none of a user, and none that a record of the source gives or takes away", async () => {
    const store = await openedStore();
    await imported(store, sourceOf("u1"));
    await store.renameSession("s", "Mine");
    await imported(store, sourceOf("u1", [], { title: "Theirs" }));
    expect((await (await store.openSession("s")).record()).title).toBe("Mine");
    const untitled: SourceRecord = { kind: "title", title: null, source: "user" };
    const source = sourceOf("u1", [untitled], { sessionId: "t", title: "Before" });
    for (const _ of [1, 2]) await imported(store, source);
    expect((await (await store.openSession("t")).record()).title).toBeNull();
  });
});

test("an agent that was imported before the call that started it is linked to it the next time", async () => {
  const store = await openedStore();
  const agent = { sessionId: "a", kind: "subagent" } as const;
  await imported(store, sourceOf("u1", [], { ...agent, parent: { sessionId: "s" } }));
  const call = { sessionId: "s", entryId: "e1", toolCallId: "t1" };
  await imported(store, sourceOf("u1", [], { ...agent, parent: call }));
  expect((await (await store.openSession("a")).record()).parent).toEqual(call);
});

test("a Claude agent that was imported before its session's file had the call gets its title and its link with it", async () => {
  const id = "11111111-2222-4333-8444-555555555555";
  const line = (uuid: string, parentUuid: string | null, type: string, message: object, rest: object = {}) => ({
    type,
    uuid,
    parentUuid,
    sessionId: id,
    isSidechain: false,
    timestamp: "2026-01-01T00:00:00Z",
    message,
    ...rest,
  });
  const asked = line("u1", null, "user", { role: "user", content: "go" });
  const agent = line("s1", null, "user", { role: "user", content: "find it" }, { isSidechain: true, agentId: "x7" });
  const task = { type: "tool_use", id: "t1", name: "Task", input: { description: "Look around", prompt: "find it" } };
  const call = line("a1", "u1", "assistant", { id: "m1", role: "assistant", model: "m", content: [task] });
  const store = await openedStore();
  const path = fileOf([asked, ""], `${id}.jsonl`);
  fileOf([agent, ""], "agent-x7.jsonl", dirname(path));
  await importPath(store, dirname(path));
  const before = await (await store.openSession(`${id}.x7`)).record();
  expect(before).toMatchObject({ title: null, parent: { sessionId: id, toolCallId: null } });
  fileOf([asked, call, ""], `${id}.jsonl`, dirname(path));
  await importPath(store, join(dirname(path), `${id}.jsonl`));
  const after = await (await store.openSession(`${id}.x7`)).record();
  expect(after).toMatchObject({ title: "Look around", parent: { sessionId: id, entryId: "a1", toolCallId: "t1" } });
});
