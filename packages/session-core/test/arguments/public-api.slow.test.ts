import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import * as formats from "@bough/formats";
import * as secrets from "@bough/formats/secrets";
import * as postgres from "@bough/postgres";
import { describe, expect, test } from "vitest";
import * as core from "../../src/index.js";
import * as groups from "../../src/session/session-groups.js";
import { SessionTree, SessionValues } from "../../src/session/session-groups.js";
import { findingsOf, openedStore, tempFolder } from "../world/stores.js";
import { ODD_VALUES } from "./odd-values.js";

interface World {
  readonly store: core.Store;
  readonly session: core.Session;
  readonly folder: string;
}

const SOURCE = { header: { sessionId: "imported", kind: "conversation" as const }, records: () => [] };

/** A call of a public function with an odd value in place of one argument. */
type Call = (world: World, odd: never) => unknown;

async function drained(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

/** Every member of an options object in turn; the others as given. */
function members(name: string, call: (world: World, options: never) => unknown, given: object, names: readonly string[]) {
  return Object.fromEntries([
    [name, call],
    ...names.map((member) => [`${name}.${member}`, (world: World, odd: never) => call(world, { ...given, [member]: odd } as never)]),
  ]) as Record<string, Call>;
}

const CONTEXT = { messages: [], entries: [], system: null, compaction: null, model: null, thinkingLevel: null };
const CONVERTERS = {
  toAiSdk: core.toAiSdk,
  toAnthropic: core.toAnthropic,
  toOpenAiChat: core.toOpenAiChat,
  toOpenAiResponses: core.toOpenAiResponses,
};
const MESSAGE_MEMBERS = ["role", "content", "toolCallId", "command", "output", "summary", "customType", "usage"];

const BRANCH_EXPORT_MEMBERS = ["branch", "continues", "secrets", "onMasked"];

const LISTING_MEMBERS = ["order", "afterSeq", "beforeSeq", "types", "customType", "limit"];

const CALLS: Readonly<Record<string, Call>> = {
  ...members("openStore", (_, options) => core.openStore(options).then((store) => store.close()), { path: ":memory:" }, [
    "mode",
    "durability",
    "busyTimeoutMs",
    "maxBytes",
    "fileTools",
  ]),
  "openStore.path": ({ folder }, odd) =>
    core.openStore({ path: typeof odd === "string" && odd !== "" ? join(folder, odd) : odd }).then((store) => store.close()),
  ...members("store.createSession", ({ store }, session) => store.createSession(session), {}, [
    "id",
    "title",
    "titleSource",
    "cwd",
    "kind",
    "createdAtMs",
    "parent",
    "metadata",
  ]),
  ...members("store.createSession options", ({ store }, options) => store.createSession({}, options), {}, ["writes"]),
  "store.openOrCreateSession id": ({ store }, id) => store.openOrCreateSession(id),
  ...members("store.openOrCreateSession session", ({ store }, session) => store.openOrCreateSession("new", session), {}, [
    "title",
    "metadata",
    "parent",
  ]),
  ...members("store.openOrCreateSession options", ({ store }, options) => store.openOrCreateSession("s", {}, options), {}, [
    "leaf",
    "writes",
  ]),
  "store.openSession": ({ store }, id) => store.openSession(id),
  ...members("store.openSession options", ({ store }, options) => store.openSession("s", options), {}, ["leaf"]),
  "store.deleteLeaf id": ({ store }, id) => store.deleteLeaf(id, "w"),
  "store.deleteLeaf name": ({ store }, name) => store.deleteLeaf("s", name),
  "store.findSession": ({ store }, id) => store.findSession(id),
  "store.resolveSession": ({ store }, name) => store.resolveSession(name),
  "store.resolveSession mask": ({ store }, mask) => store.resolveSession("s", mask),
  "store.findSessions": ({ store }, name) => store.findSessions(name, 5),
  "store.findSessions limit": ({ store }, limit) => store.findSessions("s", limit),
  "store.importSession": ({ store }, source) => store.importSession(source, { format: "x", path: "x.jsonl" }),
  ...members(
    "store.importSession options",
    ({ store }, options) => store.importSession(SOURCE, options),
    { format: "x", path: "x.jsonl" },
    ["format", "path", "writtenAtMs", "onRecords", "append", "sync", "heldUntil"],
  ),
  "store.importSessions": ({ store }, imports) => store.importSessions(imports),
  "store.valuesOf key": ({ store }, key) => store.valuesOf(key),
  "store.valuesOf of": ({ store }, of) => store.valuesOf("k", of),
  "store.valuesOf id": ({ store }, id) => store.valuesOf("k", [id]),
  ...members("store.valuesOf filter", ({ store }, filter) => store.valuesOf("k", filter), {}, ["cwd", "metadata", "limit"]),
  "store.shortIds ids": ({ store }, ids) => store.shortIds(ids),
  "store.shortIds id": ({ store }, id) => store.shortIds([id]),
  "store.totalsOf ids": ({ store }, ids) => store.totalsOf(ids),
  "store.totalsOf id": ({ store }, id) => store.totalsOf([id]),
  ...members("store.listSessions", ({ store }, filter) => store.listSessions(filter), {}, [
    "cwd",
    "under",
    "sinceMs",
    "untilMs",
    "agent",
    "kind",
    "archived",
    "empty",
    "parentId",
    "metadata",
    "limit",
    "cursor",
  ]),
  "store.renameSession id": ({ store }, id) => store.renameSession(id, "t"),
  "store.renameSession title": ({ store }, title) => store.renameSession("s", title),
  "store.renameSession source": ({ store }, source) => store.renameSession("s", "t", source),
  "store.archiveSession id": ({ store }, id) => store.archiveSession(id, false),
  "store.archiveSession archived": ({ store }, archived) => store.archiveSession("s", archived),
  "store.deleteSession": ({ store }, id) => store.deleteSession(id),
  "store.forkSession id": ({ store }, id) => store.forkSession(id),
  ...members("store.forkSession options", ({ store }, options) => store.forkSession("s", options), {}, [
    "at",
    "title",
    "id",
    "cwd",
    "tree",
    "values",
    "metadata",
    "writes",
  ]),
  "store.setMetadata id": ({ store }, id) => store.setMetadata(id, { a: 1 }),
  "store.setMetadata patch": ({ store }, patch) => store.setMetadata("s", patch),
  "store.setMetadata member": ({ store }, member) => store.setMetadata("s", { member }),
  "session.setMetadata": ({ session }, patch) => session.setMetadata(patch),
  ...members("store.search", ({ store }, request) => store.search(request), { query: "x" }, [
    "query",
    "sessionId",
    "roles",
    "types",
    "sinceMs",
    "untilMs",
    "path",
    "cwd",
    "limit",
    "cursor",
  ]),
  "store.catchUpSearch": ({ store }, limit) => store.catchUpSearch(limit),
  "store.whileOpen": ({ store }, body) => store.whileOpen(body),
  "store.onChange": ({ store }, listener) => store.onChange(listener)(),
  "session.onChange": ({ session }, listener) => session.onChange(listener)(),
  ...members("distribution", (_, options) => postgres.distribution(options), {}, ["schema"]),
  ...members("grants", (_, options) => postgres.grants(options), { role: "agents" }, ["role", "schema", "access"]),
  "store.fileTouches": ({ store }, paths) => store.fileTouches(paths),
  "store.fileTouches path": ({ store }, path) => store.fileTouches([path]),
  "store.verify": ({ store }, id) => drained(store.verify(id)),
  "store.backup path": ({ store, folder }, odd) => store.backup(typeof odd === "string" && odd !== "" ? (join(folder, odd) as never) : odd),
  "store.backup onProgress": ({ store, folder }, onProgress) => store.backup(join(folder, randomUUID()), onProgress),

  "session.append": ({ session }, entry) => session.append(entry),
  ...members(
    "session.append message",
    ({ session }, message) => session.append({ type: "message", message }),
    { role: "user", content: "x" },
    MESSAGE_MEMBERS,
  ),
  ...members("session.append options", ({ session }, options) => session.append(core.userMessage("x"), options), {}, [
    "onConflict",
    "expectedLeafId",
    "parentId",
  ]),
  "session.write": ({ session }, writes) => session.write(writes),
  ...members("session.write options", ({ session }, options) => session.write([], options), {}, ["onConflict", "expectedLeafId"]),
  ...members("session.write entry", ({ session }, write) => session.write([write]), { kind: "entry", entry: core.userMessage("x") }, [
    "kind",
    "entry",
    "parentId",
  ]),
  ...members("session.write label", ({ session }, write) => session.write([write]), { kind: "label", entryId: "e", label: "x" }, [
    "entryId",
    "label",
    "createdAtMs",
  ]),
  ...members("session.write value", ({ session }, write) => session.write([write]), { kind: "value", key: "k", value: 1 }, [
    "key",
    "value",
    "ifEquals",
  ]),
  "session.write deleteValues": ({ session }, prefix) => session.write([{ kind: "deleteValues", prefix }]),
  ...members("session.write move", ({ session }, write) => session.write([write]), { kind: "moveLeaf", to: "e" }, ["to", "leaf"]),
  "session.moveLeaf": ({ session }, to) => session.moveLeaf(to),
  "session.labels.set entryId": ({ session }, id) => session.labels.set(id, "x"),
  "session.labels.set label": ({ session }, label) => session.labels.set("e", label),
  "session.labels.remove": ({ session }, id) => session.labels.remove(id),
  "session.values.set key": ({ session }, key) => session.values.set(key, 1),
  "session.values.set value": ({ session }, value) => session.values.set("k", value),
  ...members("session.values.set options", ({ session }, options) => session.values.set("k", 1, options), {}, ["ifEquals"]),
  "session.values.update key": ({ session }, key) => session.values.update(key, () => 1),
  "session.values.update change": ({ session }, change) => session.values.update("k", change),
  "session.values.deletePrefix": ({ session }, prefix) => session.values.deletePrefix(prefix),
  "session.tokenCounts.save counter": ({ session }, counter) => session.tokenCounts.save(counter, new Map([["e", 1]])),
  "session.tokenCounts.save counts": ({ session }, counts) => session.tokenCounts.save("c", counts),
  "session.tokenCounts.save id": ({ session }, id) => session.tokenCounts.save("c", new Map([[id, 1]])),
  "session.tokenCounts.save tokens": ({ session }, tokens) => session.tokenCounts.save("c", new Map([["e", tokens]])),
  ...members("session.search", ({ session }, request) => session.search(request), { query: "x" }, [
    "query",
    "path",
    "limit",
    "cursor",
    "types",
  ]),
  ...members("session.context", ({ session }, options) => session.context(options), {}, ["leafId", "danglingCalls"]),
  ...members("session.context at an entry", ({ session }, options) => session.context(options), { leafId: "e" }, ["danglingCalls"]),
  "session.settings": ({ session }, leafId) => session.settings(leafId),
  "session.entry": ({ session }, id) => session.entry(id),
  "session.shortIds ids": ({ session }, ids) => session.shortIds(ids),
  "session.shortIds id": ({ session }, id) => session.shortIds([id]),
  "session.resolve": ({ session }, name) => session.resolve(name),
  "session.path": ({ session }, leafId) => session.path(leafId),
  ...members("session.scan", ({ session }, scan) => session.scan(scan), {}, [
    "leafId",
    "stopAt",
    "order",
    "types",
    "roles",
    "customType",
    "limit",
    "cursor",
  ]),
  ...members("session.walk", ({ session }, scan) => drained(session.walk(scan)), {}, ["leafId", "stopAt"]),
  "session.tree.children": ({ session }, id) => session.tree.children(id),
  "session.tree.siblings": ({ session }, id) => session.tree.siblings(id),
  ...members("session.tree.outline", ({ session }, options) => session.tree.outline(options), {}, LISTING_MEMBERS),
  "session.tree.tipBelow": ({ session }, id) => session.tree.tipBelow(id),
  ...members("session.list", ({ session }, listing) => session.list(listing), {}, LISTING_MEMBERS),
  "session.entriesById": ({ session }, ids) => session.entriesById(ids),
  "session.entriesById id": ({ session }, id) => session.entriesById([id]),
  "session.entriesSince seq": ({ session }, seq) => session.entriesSince(seq),
  "session.entriesSince limit": ({ session }, limit) => session.entriesSince(0, limit),
  "session.tree.path leafId": ({ session }, id) => session.tree.path(id),
  "session.tree.path limit": ({ session }, limit) => session.tree.path(null, limit),
  "session.tree.rowsAt": ({ session }, seqs) => session.tree.rowsAt(seqs),
  "session.tree.commonAncestor a": ({ session }, a) => session.tree.commonAncestor(a, "e"),
  "session.tree.commonAncestor b": ({ session }, b) => session.tree.commonAncestor("e", b),
  "session.leafMoves": ({ session }, limit) => session.leafMoves(limit),
  "session.labels.list": ({ session }, text) => session.labels.list(text),
  "session.values.get": ({ session }, key) => session.values.get(key),
  ...members("session.values.list", ({ session }, range) => session.values.list(range), {}, ["prefix", "order", "after", "limit"]),
  "session.values.keys": ({ session }, range) => session.values.keys(range),
  ...members("session.fileOperations", ({ session }, range) => session.fileOperations(range), {}, ["fromId", "toId"]),
  "session.tokenCounts.get counter": ({ session }, counter) => session.tokenCounts.get(counter, ["e"]),
  "session.tokenCounts.get ids": ({ session }, ids) => session.tokenCounts.get("c", ids),

  "buildSessionContext session": (_, session) => core.buildSessionContext(session),
  "buildSessionContext options": ({ session }, options) => core.buildSessionContext(session, options),
  ...Object.fromEntries(
    Object.entries(CONVERTERS).flatMap(([name, convert]) => [
      ...Object.entries(members(name, (_, context) => convert(context), CONTEXT, ["messages", "entries", "system", "compaction", "model"])),
      ...Object.entries(
        members(
          `${name} message`,
          (_, message) => convert({ ...CONTEXT, messages: [message], entries: ["e"] }),
          { role: "user", content: "x" },
          MESSAGE_MEMBERS,
        ),
      ),
      [
        `${name} block`,
        (_: World, block: never) => convert({ ...CONTEXT, messages: [{ role: "user", content: [block] }], entries: ["e"] }),
      ],
    ]),
  ),
  fileLists: (_, operations) => core.fileLists(operations),
  textOf: (_, content) => core.textOf(content),
  findSecrets: (_, text) => secrets.findSecrets(text),
  maskSecrets: (_, text) => secrets.maskSecrets(text),
  "learnSecrets session": (_, session) => formats.learnSecrets(session),
  toolCallsOf: (_, entry) => core.toolCallsOf(entry),
  userMessage: (_, content) => core.userMessage(content),
  "toOpenAiChat options": (_, options) => core.toOpenAiChat(CONTEXT, options),
  ...Object.fromEntries(
    Object.entries({
      fromAnthropic: core.fromAnthropic,
      fromOpenAiChat: core.fromOpenAiChat,
      fromOpenAiResponses: core.fromOpenAiResponses,
    }).flatMap(([name, read]): [string, Call][] => [
      [`${name} reply`, (_, reply) => read(reply)],
      [`${name} choices`, (_, choices) => read({ choices, content: choices, output: choices } as never)],
      [
        `${name} member`,
        (_, odd) =>
          read({ choices: [{ message: odd, finish_reason: odd }], content: [odd], output: [odd], usage: odd, status: odd } as never),
      ],
      [`${name} options`, (_, options) => read({ choices: [{ message: {} }], content: [], output: [] }, options)],
    ]),
  ),
  normalizeUsage: (_, usage) => core.normalizeUsage(usage),
  "normalizeUsage count": (_, count) => core.normalizeUsage({ prompt_tokens: count, cost: count }),
  stopReasonOf: (_, reason) => core.stopReasonOf(reason),
  "assistantMessage content": (_, content) => core.assistantMessage(content),
  "assistantMessage fields": (_, fields) => core.assistantMessage("x", fields),
  "toolResult fields": (_, fields) => core.toolResult("c", "x", fields),
  systemMessage: (_, content) => core.systemMessage(content),
  "exportBough session": (_, session) => drained(formats.exportBough(session)),
  "exportCodex session": (_, session) => drained(formats.exportCodex(session)),
  "exportOpencode session": (_, session) => drained(formats.exportOpencode(session)),
  "exportPi session": (_, session) => drained(formats.exportPi(session)),
  "exportClaude session": (_, session) => drained(formats.exportClaude(session)),
  ...members("exportBough options", ({ session }, options) => drained(formats.exportBough(session, options)), {}, ["secrets", "onMasked"]),
  ...members(
    "exportOpencode options",
    ({ session }, options) => drained(formats.exportOpencode(session, options)),
    {},
    BRANCH_EXPORT_MEMBERS,
  ),
  ...members("exportPi options", ({ session }, options) => drained(formats.exportPi(session, options)), {}, BRANCH_EXPORT_MEMBERS),
  ...members("exportClaude options", ({ session }, options) => drained(formats.exportClaude(session, options)), {}, BRANCH_EXPORT_MEMBERS),
  ...members("exportCodex options", ({ session }, options) => drained(formats.exportCodex(session, options)), {}, BRANCH_EXPORT_MEMBERS),
  ...members(
    "exportClaude continues",
    ({ session }, continues) => drained(formats.exportClaude(session, { continues })),
    { sessionId: "s", cwd: "/p" },
    ["sessionId", "cwd"],
  ),
  "exportMarkdown session": (_, session) => drained(formats.exportMarkdown(session)),
  ...members("exportMarkdown options", ({ session }, options) => drained(formats.exportMarkdown(session, options)), {}, [
    "branch",
    "toolOutput",
    "thinking",
    "from",
    "to",
    "secrets",
    "onMasked",
    "asset",
    "subagents",
    "includeSubagents",
  ]),
  "assertImportable path": ({ folder }, odd) =>
    formats.assertImportable(typeof odd === "string" && odd !== "" ? (join(folder, odd) as never) : odd),
  "importPath store": ({ folder }, store) => formats.importPath(store, folder),
  "importPath path": ({ store, folder }, odd) =>
    formats.importPath(store, typeof odd === "string" && odd !== "" ? (join(folder, odd) as never) : odd),
  "findAgentFolders environment": (_, odd) => formats.findAgentFolders(odd),
  "findOrphanedSessions store": (_, store) => formats.findOrphanedSessions(store),
  "copySessions from": ({ store }, odd) => core.copySessions(odd, store),
  "copySessions to": ({ store }, odd) => core.copySessions(store, odd),
  ...members("copySessions options", ({ store }, options) => core.copySessions(store, store, options), {}, [
    "sessions",
    "update",
    "verify",
    "dryRun",
    "signal",
    "onProgress",
  ]),
  "syncSessions store": (_, store) => formats.syncSessions(store),
  ...members(
    "syncSessions options",
    ({ store, folder }, options: object) =>
      formats.syncSessions(store, { environment: { env: {}, home: folder, platform: "linux" }, ...options }),
    {},
    ["agents", "paths", "dryRun", "environment", "signal", "onProgress"],
  ),
  ...members("importPath options", ({ store, folder }, options) => formats.importPath(store, folder, options), {}, ["onProgress"]),
};

async function world(): Promise<World> {
  const store = await openedStore();
  const session = await store.createSession({ id: "s" });
  await session.append({ ...core.userMessage("x"), id: "e" });
  await store.openSession("s", { leaf: "w" });
  return { store, session, folder: tempFolder() };
}

/** What came out of a call, where it is no error of ours. */
async function rawError(call: Call, made: World, odd: unknown): Promise<string | undefined> {
  try {
    await call(made, odd as never);
    return undefined;
  } catch (error) {
    return error instanceof core.BoughError ? undefined : String(error);
  }
}

describe("with any odd value in place of an argument", () => {
  test.each(Object.entries(CALLS))("%s succeeds or throws an error of ours", async (_, call) => {
    const raw: string[] = [];
    const made = await world();
    for (const [name, odd] of ODD_VALUES) {
      const error = await rawError(call, made, odd);
      if (error !== undefined) raw.push(`${name}: ${error}`);
    }
    expect(await findingsOf(made.store)).toEqual([]);
    expect(raw).toEqual([]);
  });

  test("every public method of stores and sessions is in the table", () => {
    const named = Object.keys(CALLS).join("\n");
    const methods = [core.Store, core.Session, SessionTree, SessionValues, ...Object.values(groups)].flatMap(
      (made: { prototype: object }) =>
        Object.entries(Object.getOwnPropertyDescriptors(made.prototype)).flatMap(([name, { value }]) =>
          typeof value === "function" && name !== "constructor" && value.length > 0 ? [name] : [],
        ),
    );
    expect(methods.filter((name) => !named.includes(`.${name}`))).toEqual([]);
  });
});

describe("what a wrong argument is told", () => {
  test("its name, what is wanted and what was given, on one line", async () => {
    const { store } = await world();
    await expect(core.openStore("sessions.db" as never)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      argument: "options",
      message: 'The argument options must be an object such as { path: "sessions.db" }; it is the text "sessions.db". Nothing was done.',
    });
    await expect(store.listSessions({ kind: "agent" as never })).rejects.toMatchObject({
      argument: "filter.kind",
      message: 'The argument filter.kind must be one of conversation, subagent, all; it is the text "agent". Nothing was done.',
    });
  });

  test("a given text is cut, and neither a terminal nor a reader acts on it", async () => {
    const { store } = await world();
    const failure = await store.openSession({ id: "s" } as never).catch((error: unknown) => error);
    expect(failure).toMatchObject({ message: "The argument id must be a text; it is an object. Nothing was done." });
    const odd = await store.listSessions({ kind: `\u001b[31m\u202e${"x".repeat(500)}` as never }).catch((error: unknown) => String(error));
    expect(odd).not.toMatch(/\p{C}/u);
    expect(String(odd).length).toBeLessThan(250);
  });

  test.each([2.5, -1, Number.POSITIVE_INFINITY])("%d partitions are refused before a server is asked", async (partitions) => {
    const opened = core.openStore({ url: "postgres://nobody@127.0.0.1:1/none", busyTimeoutMs: 0, partitions });
    await expect(opened).rejects.toMatchObject({ code: "INVALID_ARGUMENT", argument: "options.partitions" });
  });

  test("a place that is both a file and a server is refused before either is opened, as is none", async () => {
    const refused = { code: "INVALID_ARGUMENT", argument: "options" };
    const path = join(tempFolder(), "both.db");
    await expect(core.openStore({ path, url: "postgres://nobody@127.0.0.1:1/none" })).rejects.toMatchObject(refused);
    await expect(core.openStore({})).rejects.toMatchObject(refused);
    expect(existsSync(path)).toBe(false);
  });

  test("a path with a NUL character is refused before the file system is asked", async () => {
    const { store } = await world();
    const refused = { code: "INVALID_ARGUMENT", argument: "path" };
    await expect(store.backup("a\0b")).rejects.toMatchObject(refused);
    await expect(formats.importPath(store, "a\0b")).rejects.toMatchObject(refused);
    await expect(core.openStore({ path: "a\0b" })).rejects.toMatchObject({ ...refused, argument: "options.path" });
  });

  test.each(["a\u202eb", "a\u{e0041}", "a\u200b", "a\u001bb", "a\nb", ""])("a leaf cannot be named %j", async (leaf) => {
    const { store } = await world();
    await expect(store.openSession("s", { leaf })).rejects.toMatchObject({ code: "INVALID_ENTRY", path: "leaf" });
    expect((await (await store.openSession("s")).leaves()).map(({ name }) => name)).toEqual(["main", "w"]);
  });

  test.each(["می‌خواهم", "👩‍👩‍👧", "übersicht"])("a leaf can be named %s", async (leaf) => {
    const { store } = await world();
    expect((await store.openSession("s", { leaf })).leafName).toBe(leaf);
  });
});
