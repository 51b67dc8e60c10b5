import * as formats from "@bough/formats";
import { describe, expect, test } from "vitest";
import { previewOf, searchableText } from "../../src/entry/text.js";
import * as core from "../../src/index.js";
import { collected, findingsOf, openedStore, raw, storePath } from "../world/stores.js";

const CONVERTERS = [core.toAiSdk, core.toAnthropic, core.toOpenAiChat, core.toOpenAiResponses];
const UNKNOWN = { type: "input_text", text: "from elsewhere" };
const FOREIGN = { type: "foreign", originalType: "input_text", raw: UNKNOWN };

/** A store in which `content` stands in one row, written behind our back, and its session of three entries. */
async function storeWith(target: "ask" | "answer" | "note", content: unknown): Promise<core.Store> {
  const path = storePath();
  const store = await core.openStore({ path, durability: "normal" });
  const session = await store.createSession({ id: "s" });
  await session.append({ ...core.userMessage("question about apples"), id: "ask" });
  await session.append({ ...core.assistantMessage("answer about pears"), id: "answer" });
  await session.append({ type: "custom_message", customType: "note", content: "note about plums", id: "note" });
  await store.close();
  const member = target === "note" ? "$.content" : "$.message.content";
  raw(path, (file) =>
    file
      .prepare("UPDATE payload SET json = json_set(json, ?, json(?)) WHERE entry_seq = (SELECT seq FROM entry WHERE id = ?)")
      .run(member, JSON.stringify(content), target),
  );
  return openedStore({ path });
}

const DAMAGES: readonly (readonly [what: string, block: unknown])[] = [
  ["of an unknown type", UNKNOWN],
  ["without the member of its type", { type: "text" }],
  ["that is no object", 7],
  ["that is null", null],
];

test("a foreign block or record without its raw value is refused: JSON would leave it out", async () => {
  const session = await (await openedStore()).createSession();
  for (const entry of [
    { type: "foreign" as const, originalType: "x", raw: undefined },
    core.userMessage([{ type: "foreign", originalType: "x", raw: undefined }]),
  ])
    await expect(session.append(entry)).rejects.toMatchObject({ code: "INVALID_ENTRY" });
});

test.each([
  ["whose message is another value", "$.message", 5],
  ["whose message has no content", "$.message.content", null],
  ["whose message has no role", "$.message.role", null],
])("a stored row %s is a damaged payload for each reader, and verify names it", async (_what, member, value) => {
  const path = storePath();
  const written = await core.openStore({ path, durability: "normal" });
  const session = await written.createSession({ id: "s" });
  await session.append({ ...core.userMessage("question"), id: "ask" });
  await written.close();
  raw(path, (file) => file.prepare("UPDATE payload SET json = json_set(json, ?, json(?))").run(member, JSON.stringify(value)));
  const store = await openedStore({ path });
  const damaged = await store.openSession("s");
  await expect(damaged.context()).rejects.toMatchObject({ code: "PAYLOAD_DAMAGED" });
  await expect(damaged.entry("ask")).rejects.toMatchObject({ code: "PAYLOAD_DAMAGED" });
  expect((await store.search({ query: "question" })).hits).toEqual([]);
  expect((await findingsOf(store)).length).toBeGreaterThan(0);
});

describe.each(["ask", "answer", "note"] as const)("a stored row (%s) with a block", (target) => {
  test.each(DAMAGES)("%s stops no search, context, tree or export, and verify names it", async (_what, block) => {
    const store = await storeWith(target, [block, { type: "text", text: "about apples, pears and plums" }]);
    for (const query of ["apples", "pears", "plums"]) {
      const hits = (await store.search({ query })).hits;
      expect(hits.map(({ entryId }) => entryId)).toContain(target);
    }
    const session = await store.openSession("s");
    const context = await session.context();
    expect(context.entries).toEqual(["ask", "answer", "note"]);
    expect(context.messages[context.entries.indexOf(target as core.EntryId)]).toMatchObject({
      content: [{ type: "foreign", raw: block }, { type: "text" }],
    });
    for (const convert of CONVERTERS) expect(JSON.stringify(convert(context))).toContain("about apples");
    expect((await session.tree.outline()).map(({ id }) => id)).toEqual(["ask", "answer", "note"]);
    for (const entry of (await session.scan()).items) expect(searchableText(entry) + previewOf(entry)).not.toBe("");
    for (const parts of [
      formats.exportBough(session),
      formats.exportPi(session),
      formats.exportClaude(session),
      formats.exportMarkdown(session),
    ]) {
      expect((await collected(parts)).join("")).toContain("about apples");
    }
    expect((await findingsOf(store)).map(({ rule, entryId }) => [rule, entryId])).toEqual([["invalid-payload", target]]);
  });
});

test("a stored payload with members named as columns does not replace them", async () => {
  const path = storePath();
  const store = await core.openStore({ path });
  const session = await store.createSession({ id: "s" });
  await session.append({ ...core.userMessage("question"), id: "ask" });
  const [entry] = await session.path();
  await store.close();
  raw(path, (file) =>
    file.exec(`UPDATE payload SET json = json_set(json, '$.id', 'x', '$.seq', 9, '$.parentId', 'x', '$.createdAtMs', 1)`),
  );
  expect(await (await (await openedStore({ path })).openSession("s")).path()).toEqual([entry]);
});

test("a stored row without any message hides no other row from a search", async () => {
  const path = storePath();
  const store = await core.openStore({ path, durability: "normal" });
  const session = await store.createSession({ id: "s" });
  await session.append({ ...core.userMessage("first apples"), id: "broken" });
  await session.append({ ...core.userMessage("second apples"), id: "whole" });
  await store.close();
  raw(path, (file) => file.exec("UPDATE payload SET json = '{}' WHERE entry_seq = (SELECT seq FROM entry WHERE id = 'broken')"));
  const hits = (await (await openedStore({ path })).search({ query: "apples" })).hits;
  expect(hits.map(({ entryId }) => entryId)).toEqual(["whole"]);
});

describe("an edit of what the model sees", () => {
  async function edited(content: unknown[]) {
    const store = await openedStore();
    const session = await store.createSession({ id: "s" });
    await session.append({ ...core.userMessage("question"), id: "ask" });
    await session.append({ ...core.assistantMessage("answer"), id: "answer" });
    await session.append({ type: "context_edit", targetId: "ask", replacement: { content } });
    return { store, session };
  }

  test("keeps a block of an unknown type as a foreign one, and its branch has a context", async () => {
    const { store, session } = await edited([UNKNOWN, { type: "text", text: "a better question" }]);
    const context = await session.context();
    expect(context.messages[0]).toMatchObject({ content: [FOREIGN, { type: "text", text: "a better question" }] });
    for (const convert of CONVERTERS) expect(JSON.stringify(convert(context))).toContain("a better question");
    expect((await store.search({ query: "better" })).hits).toHaveLength(1);
    expect(await findingsOf(store)).toEqual([]);
  });

  test("shows a thought or a call in the place of what a person said as a foreign block", async () => {
    const thinking = { type: "thinking", thinking: "hm" };
    const { session } = await edited([thinking, { type: "text", text: "a better question" }]);
    const context = await session.context();
    expect(context.messages[0]).toMatchObject({
      content: [{ type: "foreign", originalType: "thinking", raw: thinking }, { type: "text" }],
    });
    for (const convert of CONVERTERS) expect(JSON.stringify(convert(context))).toContain("a better question");
  });

  test("is refused with a block of a known type that does not fit", async () => {
    await expect(edited([{ type: "text", text: 5 }])).rejects.toMatchObject({
      code: "INVALID_ENTRY",
      message: expect.stringContaining("replacement.content[0].text"),
    });
  });

  test("of an older program, stored with an unknown block, has a context too", async () => {
    const path = storePath();
    const store = await core.openStore({ path, durability: "normal" });
    const session = await store.createSession({ id: "s" });
    await session.append({ ...core.userMessage("question"), id: "ask" });
    await session.append({ type: "context_edit", targetId: "ask", replacement: { content: [] } });
    await store.close();
    const stored = JSON.stringify([UNKNOWN]);
    raw(path, (file) =>
      file
        .prepare(
          `UPDATE payload SET json = json_set(json, '$.replacement.content', json(?))
           WHERE entry_seq = (SELECT seq FROM entry WHERE type = 'context_edit')`,
        )
        .run(stored),
    );
    const context = await (await (await openedStore({ path })).openSession("s")).context();
    expect(context.messages[0]).toMatchObject({ content: [FOREIGN] });
  });
});
