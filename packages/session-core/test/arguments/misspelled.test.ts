import { expect, test } from "vitest";
import { openStore, toAnthropic, userMessage } from "../../src/index.js";

// What untyped code may pass. A misspelled option would otherwise be ignored: a filter would list every session.
const untyped = <T>(value: unknown): T => value as T;

test("a misspelled option is refused, with the name that it almost is", async () => {
  await expect(openStore(untyped({ path: ":memory:", mod: "read-only" }))).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: 'The argument options.mod must be spelled mode; it is the text "read-only". Nothing was done.',
  });
  const store = await openStore({ path: ":memory:" });
  await expect(store.createSession(untyped({ tilte: "Tabs" }))).rejects.toThrow("tilte must be spelled title;");
  await expect(store.listSessions(untyped({ metdata: { owner: "u7" } }))).rejects.toThrow("metdata must be spelled metadata;");
  const session = await store.createSession();
  await expect(session.append(userMessage("a"), untyped({ parentID: "x" }))).rejects.toThrow("parentID must be spelled parentId;");
  expect((await session.path()).length).toBe(0);
  await store.close();
});

test("a misspelled member of a search, a context or a path is refused instead of answering for everything", async () => {
  const store = await openStore({ path: ":memory:" });
  const session = await store.createSession();
  await expect(store.search(untyped({ query: "tabs", role: ["user"] }))).rejects.toThrow("request.role must be spelled roles;");
  await expect(session.context(untyped({ leaf: "a" }))).rejects.toThrow("options.leaf must be spelled leafId;");
  await expect(session.walk(untyped({ leafID: "a" })).next()).rejects.toThrow("scan.leafID must be spelled leafId;");
  await expect(session.fileOperations(untyped({ from: "a" }))).rejects.toThrow("range.from must be spelled fromId;");
  await expect(session.values.list(untyped({ prefx: "run/" }))).rejects.toThrow("prefx must be spelled prefix;");
  await expect(store.createSession({}, untyped({ wirtes: [] }))).rejects.toThrow("options.wirtes must be spelled writes;");
  await expect(store.pack(untyped({ scpoe: "old" }))).rejects.toThrow("options.scpoe must be spelled scope;");
  const context = await session.context();
  expect(() => toAnthropic(context, untyped({ boundThinkng: "never" }))).toThrow("options.boundThinkng must be spelled boundThinking;");
  await store.close();
});

test("a member beside the one whose name it almost has is ignored", async () => {
  const store = await openStore(untyped({ path: ":memory:", mode: "create", node: 20 }));
  const { hits } = await store.search(untyped({ query: "tabs", roles: ["user"], role: "admin" }));
  expect(hits).toEqual([]);
  await store.close();
});

test("an option of quite another name is ignored, and so is a misspelled one that is undefined", async () => {
  const store = await openStore(untyped({ path: ":memory:", verboseLogging: true, mod: undefined }));
  expect((await store.listSessions(untyped({ somethingElse: 1 }))).items).toEqual([]);
  await store.close();
});
