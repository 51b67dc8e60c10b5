import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assistantMessage, openStore, type SessionFilter, type Store, userMessage } from "@bough/session-core";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { PickerModel } from "../../src/picker/model.js";
import { loadExactWidths } from "../../src/terminal/width.js";
import { NOON } from "../world.js";
import { createConversation, HERE, memoryStore, pickerOn } from "./driven.js";

const SIZE = { columns: 100, rows: 24 };

beforeAll(loadExactWidths);

/** A store, and the filters of the lists that are read from it. */
function countingLists(store: Store) {
  const lists: SessionFilter[] = [];
  const counted = new Proxy(store, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== "function") return member;
      return (...given: unknown[]) => {
        if (key === "listSessions") lists.push(Object(given[0]));
        return Reflect.apply(member, target, given);
      };
    },
  });
  return { counted, lists };
}

/** A store in a file, opened twice as by two processes. */
async function openTwice(): Promise<readonly [Store, Store]> {
  const folder = mkdtempSync(join(tmpdir(), "bough-picker-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "sessions.db");
  const [store, other] = [await openStore({ path }), await openStore({ path })];
  onTestFinished(async () => {
    await store.close();
    await other.close();
  });
  return [store, other];
}

describe("A picker on a store", () => {
  it("lists the sessions of the directory, or all, without those of subagents and empty ones", async () => {
    const store = await memoryStore();
    await createConversation(store, { id: "one" }, 2, "first words");
    await createConversation(store, { id: "two", title: "Elsewhere", cwd: "/other" }, 1, "hello");
    await createConversation(
      store,
      { id: "sub", kind: "subagent", parent: { sessionId: "one", entryId: null, toolCallId: "c" } },
      0,
      "work",
    );
    await store.createSession({ id: "empty", title: "Empty", cwd: HERE });
    const picker = await pickerOn(store, SIZE).until((model) => model.lists.here.state === "complete");
    expect(picker.titles).toEqual(["first words"]);
    await picker.press("tab").until((model) => model.lists.all.state === "complete");
    expect(picker.titles).toEqual(["Elsewhere", "first words"]);
  });

  it("lists sessions recorded under PWD and under the real path", async () => {
    const store = await memoryStore();
    await createConversation(store, { id: "real", title: "real" }, 2, "a");
    await createConversation(store, { id: "link", title: "link", cwd: "/link" }, 1, "b");
    const io = { cwd: HERE, env: { PWD: "/link" }, home: "/home/ann", now: () => NOON };
    const picker = await pickerOn(store, SIZE, { io }).until((model) => model.lists.here.state === "complete");
    expect(picker.titles).toEqual(["link", "real"]);
  });

  it("lists several pages, each session once", async () => {
    const store = await memoryStore();
    for (let at = 0; at < 1005; at += 1) await createConversation(store, { id: `s${at}` }, at / 100, `text ${at}`);
    const picker = await pickerOn(store, SIZE).until((model) => model.lists.here.state === "complete");
    expect(new Set(picker.titles).size).toBe(1005);
  });

  it("lists matches by name first, then matches by text with snippets", async () => {
    const store = await memoryStore();
    await createConversation(store, { id: "named", title: "Tokenizer" }, 5, "nothing");
    await createConversation(store, { id: "said", title: "Other" }, 1, "please", "the tokenizer is slow because of it");
    await createConversation(store, { id: "neither", title: "Neither" }, 0, "hello");
    const picker = await pickerOn(store, SIZE).until((model) => model.rows.length === 3);
    await picker
      .press("/")
      .type("tokeni")
      .until((model) => model.search.state === "done");
    expect(picker.titles).toEqual(["Tokenizer", "Other"]);
    expect(picker.text).toContain("the tokenizer is slow because of it");
    await picker
      .press("ctrl+u")
      .type('"slow tokenizer"')
      .until((model) => model.search.state === "done");
    expect(picker.titles).toEqual([]);
    await picker
      .press("ctrl+u")
      .type("/(/")
      .until((model) => model.search.state === "invalid");
    expect(picker.text).toContain("messages were not searched");
  });

  it("searches only the sessions of a repository there, whatever is said elsewhere", async () => {
    const folder = mkdtempSync(join(tmpdir(), "bough-picker-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    mkdirSync(join(folder, ".git"));
    const store = await memoryStore();
    await createConversation(
      store,
      { id: "mine", title: "Mine", cwd: join(folder, "api") },
      90,
      `The zebra ${"and much else ".repeat(40)}`,
    );
    const said = (at: number) => Array.from({ length: 8 }, (_, number) => `zebra ${at} ${number}`);
    for (let at = 0; at < 60; at += 1) await createConversation(store, { id: `other${at}`, cwd: "/other" }, at, ...said(at));
    const io = { cwd: folder, env: {}, home: "/home/ann", now: () => NOON };
    const picker = await pickerOn(store, SIZE, { io }).until((model) => model.lists.here.state === "complete");
    await picker
      .press("/")
      .type("zebra")
      .until((model) => model.search.state === "done");
    expect(picker.titles).toEqual(["Mine"]);
  });

  it("lists the sessions once for all keys of a search, and again after another process has written", async () => {
    const [store, other] = await openTwice();
    await createConversation(store, { id: "one", title: "One" }, 2, "the zebra");
    const { counted, lists } = countingLists(store);
    const picker = await pickerOn(counted, SIZE).until((model) => model.lists.here.state === "complete");
    onTestFinished(() => picker.performer.end());
    const isDone = (model: PickerModel) => model.search.state === "done";
    const before = lists.length;
    picker.press("/");
    for (const key of "dir:project zeb") await picker.type(key).until(isDone);
    expect([picker.titles, lists.length - before]).toEqual([["One"], 1]);
    await createConversation(other, { id: "two", title: "Two" }, 1, "a zebra too");
    await picker.until((model) => model.lists.here.sessions.length === 2);
    for (const key of "ra") await picker.type(key).until(isDone);
    expect([...picker.titles].sort()).toEqual(["One", "Two"]);
  });

  it("finds by the time of entries, also in a session that went on later, and opens it at the entry", async () => {
    const store = await memoryStore();
    await createConversation(store, { id: "went-on", title: "Went on" }, 48, "the theme flickers");
    await (await store.openSession("went-on")).append({ ...userMessage("thanks"), createdAtMs: NOON });
    await createConversation(store, { id: "later", title: "Theme of later" }, 1, "the theme again");
    const entryId = (await (await store.openSession("went-on")).list()).find(({ createdAtMs }) => createdAtMs < NOON)?.id;
    const picker = await pickerOn(store, SIZE).until((model) => model.rows.length === 2);
    const search = (typed: string) =>
      picker
        .press("ctrl+u")
        .type(typed)
        .until((model) => model.search.state === "done");
    picker.press("/");
    await search("until:24h");
    expect(picker.titles).toEqual([]);
    await search("theme until:24h");
    expect(picker.titles).toEqual(["Went on"]);
    await search("role:user until:24h");
    expect(picker.titles).toEqual(["Went on"]);
    await picker.press("enter").until(({ result }) => result !== undefined);
    expect(picker.model.result).toEqual({ kind: "open", sessionId: "went-on", hit: { entryId } });
  });

  it("shows the models of the visible rows", async () => {
    const store = await memoryStore();
    await createConversation(store, { id: "one" }, 1, "hi");
    await (await store.openSession("one")).append(assistantMessage("ok", { model: "qwen3", provider: "ollama" }));
    const picker = await pickerOn(store, SIZE).until((model) => model.models.size > 0);
    expect(picker.text).toContain("qwen3");
  });

  it("previews the last messages or the first", async () => {
    const store = await memoryStore();
    await createConversation(store, { id: "one" }, 1, ...Array.from({ length: 30 }, (_, at) => `message ${at}.`));
    const picker = await pickerOn(store, SIZE).until((model) => model.rows.length === 1);
    await picker.press("v").until((model) => model.preview.messages !== undefined);
    expect(picker.text).toContain("message 29.");
    expect(picker.text).not.toContain("  message 1.");
    await picker.press("e").until((model) => model.preview.messages !== undefined);
    expect(picker.text).toContain("  message 1.");
  });

  it("renames, removes the title, archives and unarchives", async () => {
    const store = await memoryStore();
    await createConversation(store, { id: "one", title: "Old" }, 1, "first words");
    const picker = await pickerOn(store, SIZE).until((model) => model.rows.length === 1);
    await picker
      .press("r", "ctrl+u")
      .type("New")
      .press("enter")
      .until((model) => model.notice !== undefined);
    expect([picker.titles, (await store.findSession("one"))?.title]).toEqual([["New"], "New"]);
    await picker.press("r", "ctrl+u", "enter").until((model) => model.notice !== undefined);
    expect(picker.titles).toEqual(["first words"]);
    await picker.press("a").until((model) => model.notice !== undefined);
    expect([picker.titles, (await store.findSession("one"))?.archivedAtMs]).toEqual([[], expect.any(Number)]);
    await picker.press("A", "a").until((model) => model.notice !== undefined);
    expect((await store.findSession("one"))?.archivedAtMs).toBeNull();
  });

  it("deletes a session with the sessions of its subagents, not its forks", async () => {
    const store = await memoryStore();
    await createConversation(store, { id: "one", title: "One" }, 1, "hi");
    await createConversation(store, { id: "fork", title: "Fork", parent: { sessionId: "one", entryId: null, toolCallId: null } }, 2, "hi");
    for (const [id, parent] of [
      ["sub", "one"],
      ["subsub", "sub"],
    ] as const)
      await createConversation(store, { id, kind: "subagent", parent: { sessionId: parent, entryId: null, toolCallId: "c" } }, 0, "work");
    const picker = await pickerOn(store, SIZE).until((model) => model.rows.length === 2);
    await picker.press("d").until((model) => model.mode.kind === "delete" && model.mode.subagents === 2);
    await picker.press("y").until((model) => model.notice !== undefined);
    const left = await store.listSessions({ kind: "all" });
    expect(left.items.map(({ id }) => id)).toEqual(["fork"]);
    expect(picker.titles).toEqual(["Fork"]);
    expect(picker.text).toContain('Deleted "One" and 2 sessions of its subagents.');
  });

  it.each(["enter", "r", "a"])("shows that another process deleted the session when %s is pressed", async (key) => {
    const store = await memoryStore();
    await createConversation(store, { id: "one", title: "One" }, 1, "hi");
    await createConversation(store, { id: "two", title: "Two" }, 2, "hi");
    const picker = await pickerOn(store, SIZE).until((model) => model.lists.here.state === "complete");
    await store.deleteSession("one");
    await picker.press(key, ...(key === "r" ? ["enter"] : [])).until((model) => model.notice !== undefined);
    expect(picker.text).toContain('"One" was deleted by another program.');
    expect([picker.selectedTitle, picker.model.result]).toEqual(["Two", undefined]);
    await picker.until((model) => model.lists.here.state === "complete");
    expect(picker.titles).toEqual(["Two"]);
  });

  it("shows sessions, entries and titles that another process writes", async () => {
    const [store, other] = await openTwice();
    await createConversation(other, { id: "one", title: "One" }, 2, "hi");
    const picker = await pickerOn(store, SIZE).until((model) => model.lists.here.state === "complete");
    onTestFinished(() => picker.performer.end());
    await createConversation(other, { id: "two", title: "Two" }, 1, "hi");
    await picker.until((model) => model.rows.length === 2);
    expect([picker.titles, picker.selectedTitle]).toEqual([["Two", "One"], "One"]);
    await picker.press("v").until((model) => model.preview.messages !== undefined);
    await (await other.openSession("one")).append(userMessage("the newest words"));
    await picker.until(() => picker.text.includes("the newest words"));
    await other.renameSession("two", "Second");
    await picker.until(() => picker.titles.includes("Second"));
    await other.deleteSession("two");
    await picker.until((model) => model.rows.length === 1);
    expect(picker.selectedTitle).toBe("One");
  });

  it("shows the error of a read-only store, and keeps the list", async () => {
    const folder = mkdtempSync(join(tmpdir(), "bough-picker-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, "sessions.db");
    const writable = await openStore({ path });
    await createConversation(writable, { id: "one", title: "One" }, 1, "hi");
    await writable.close();
    const store = await openStore({ path, mode: "read-only" });
    onTestFinished(() => store.close());
    const picker = await pickerOn(store, SIZE).until((model) => model.rows.length === 1);
    await picker.press("d", "y").until((model) => model.notice !== undefined);
    expect(picker.text).toContain("Not deleted: ");
    expect(picker.titles).toEqual(["One"]);
  });

  it("shows that the sessions cannot be read", async () => {
    const store = await openStore({ path: ":memory:" });
    await store.close();
    const picker = await pickerOn(store, SIZE).until((model) => model.lists.here.state === "failed");
    expect(picker.text).toContain("Could not read the sessions");
  });
});
