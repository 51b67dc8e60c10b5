import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { exportBough, exportClaude, exportMarkdown, exportPi, importPath } from "@bough/formats";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../../.ci/test-runs.js";
import { decodeBytes, encodeBytes, isPlainJson } from "../../../src/entry/json.js";
import { searchableText } from "../../../src/entry/text.js";
import { type Session, type Store, toolResult, userMessage } from "../../../src/index.js";
import { collected, findingsOf, openedStore, tempFolder } from "../../world/stores.js";

const TAG = "$bough.bytes";
const bytes = fc.uint8Array({ maxLength: 40 });
const name = fc.oneof(fc.string(), fc.constantFrom(TAG, `$${TAG}`, `$$${TAG}`, `x${TAG}`, "__proto__"));

/** Data of a host: JSON with bytes in it, and objects that look like the encoding of bytes. */
const { data } = fc.letrec<{ data: unknown }>((tie) => ({
  data: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(fc.constantFrom(null, true, 5, "x"), fc.string()),
    bytes,
    fc.array(tie("data"), { maxLength: 3 }),
    fc.dictionary(name, tie("data"), { maxKeys: 3 }),
    name.map((member) => ({ [member]: "AAEC" })),
  ),
}));

describe("bytes in the data of a host", () => {
  test("come back from JSON, whatever else the data has", () => {
    fc.assert(
      fc.property(data, (given) => {
        const stored: unknown = JSON.parse(JSON.stringify(encodeBytes(given, "value")));
        expect(decodeBytes(stored)).toEqual(given);
      }),
      { numRuns: runs(3_000) },
    );
  });

  test("are not looked for in data without them, which is stored as it is", () => {
    const given = { a: [1, { b: "x" }], $ref: "#/a", "x$bough.bytes": 1 };
    expect(encodeBytes(given, "value")).toBe(given);
    expect(decodeBytes(given)).toBe(given);
    expect(isPlainJson({ [TAG]: 1 })).toBe(false);
  });

  test("come back as Uint8Array from entries and values, also packed, forked, exported and imported", async () => {
    const store = await openedStore();
    const session = await store.createSession({ id: "s" });
    await fill(session);
    const expected = await held(session);
    expect(expected.data).toEqual([PIXELS, LOOK_ALIKE]);
    await store.pack({ scope: "all" });
    expect(await held(await store.openSession("s"))).toEqual(expected);
    expect((await held(await store.forkSession("s"))).data).toEqual(expected.data);
    expect(await held(await imported(session))).toEqual(expected);
    expect(await findingsOf(store)).toEqual([]);
  });

  test("stop no context, search, edit of data or document", async () => {
    const store: Store = await openedStore();
    const session = await store.createSession({ id: "s" });
    await fill(session);
    await session.append({ type: "custom_message", customType: "note", content: "seen", details: { icon: PIXELS } });
    const context = await session.context();
    expect(context.messages.at(-1)).toMatchObject({ role: "custom", details: { icon: PIXELS } });
    expect((await store.search({ query: "screenshot" })).hits).toHaveLength(1);
    const summary = (await collected(session.entries())).find(({ type }) => type === "compaction");
    expect(summary && searchableText(summary)).toBe("so far");
    for (const document of [exportMarkdown(session), exportPi(session), exportClaude(session)]) {
      expect((await collected(document)).join("")).not.toContain('"0":0');
    }
  });

  test("given while other writes wait are those of the moment of the call", async () => {
    const store = await openedStore();
    const session = await store.createSession({ id: "s" });
    const given = new Uint8Array([1, 2]);
    const first = session.append(userMessage("a"));
    const second = session.append({ type: "custom", customType: "n", data: { given } });
    given[0] = 9;
    await Promise.all([first, second]);
    expect(await session.entry((await second).id)).toMatchObject({ data: { given: new Uint8Array([1, 2]) } });
  });

  test.each([
    ["a block", { type: "image", data: new Uint8Array([1]), mimeType: "image/png" }],
    ["arguments", { type: "toolCall", id: "c", name: "f", arguments: { file: Buffer.from("x") } }],
  ])("are refused in %s, which goes to providers", async (_where, block) => {
    const session = await (await openedStore()).createSession();
    const given = { type: "message", message: { role: "assistant", content: [block] } };
    const written = session.append(given as Parameters<typeof session.append>[0]);
    await expect(written).rejects.toThrow(
      /^Not a valid entry: message\.content\[0\]\..*: bytes are kept in details and custom data; content takes base64\.$/,
    );
  });

  test.each([
    ["a view of numbers", new Float32Array(2)],
    ["a buffer", new ArrayBuffer(2)],
  ])("are a Uint8Array, not %s", async (_what, given) => {
    const session = await (await openedStore()).createSession();
    await expect(session.values.set("k", { given })).rejects.toThrow("k.given");
  });
});

const PIXELS = new Uint8Array([0, 1, 2, 255]);
const LOOK_ALIKE = { [TAG]: "AAEC", nested: { [TAG]: "AAEC" }, twice: { [`$${TAG}`]: 5 } };

async function fill(session: Session): Promise<void> {
  await session.append({ type: "custom", customType: "pixels", data: PIXELS });
  await session.append({ type: "custom", customType: "look-alike", data: LOOK_ALIKE });
  await session.append({ type: "custom_message", customType: "note", content: "note", details: { icon: PIXELS } });
  await session.append({ type: "compaction", summary: "so far", firstKeptEntryId: null, details: { index: PIXELS } });
  await session.append(toolResult("call", "a screenshot", { toolName: "see", details: { screen: Buffer.from(PIXELS) } }));
  await session.values.set("icon", { bytes: PIXELS, list: [PIXELS] });
  await session.values.set(
    "large",
    Uint8Array.from({ length: 100_000 }, (_, at) => at % 256),
  );
}

async function held(session: Session) {
  const entries = await collected(session.entries());
  const data = entries.flatMap((entry) => (entry.type === "custom" ? [entry.data] : []));
  const details = entries.flatMap((entry) => {
    if (entry.type === "message") return "details" in entry.message ? [entry.message.details] : [];
    return "details" in entry ? [entry.details] : [];
  });
  return { data, details, values: (await session.values.list()).map(({ key, value }) => [key, value]) };
}

async function imported(session: Session): Promise<Session> {
  const path = join(tempFolder(), "session.jsonl");
  writeFileSync(path, (await collected(exportBough(session, { secrets: "keep" }))).join(""));
  const store = await openedStore();
  await importPath(store, path);
  return store.openSession(session.id);
}
