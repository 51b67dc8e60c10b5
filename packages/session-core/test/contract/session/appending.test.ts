import { describe, expect, test } from "vitest";
import { assistantMessage, toolResult, userMessage } from "../../../src/entry/builders.js";
import type { EntryInput } from "../../../src/entry/entry.js";
import {
  EntryConflictError,
  EntryNotFoundError,
  InvalidEntryError,
  InvalidReferenceError,
  LeafMovedError,
  UnserializableValueError,
} from "../../../src/errors/session-errors.js";
import { contextNames, entryNamed, grow, pathNames, treeNames } from "../../world/grow.js";
import { findingsOf } from "../../world/stores.js";

describe("appending an entry", () => {
  test("puts it under the leaf and moves the leaf to it", async () => {
    const { session } = await grow("u1 a1");
    const { id, seq } = await session.append(userMessage("again"));
    expect(await session.entry(id)).toMatchObject({ id, seq, parentId: "a1", message: { role: "user", content: "again" } });
    expect(session.leafId).toBe(id);
  });

  test("gives it an id of its own where none is given, and a seq that rises", async () => {
    const { session } = await grow("");
    const first = await session.append(userMessage("same"));
    const second = await session.append(userMessage("same"));
    expect(second.id).not.toBe(first.id);
    expect(second.seq).toBeGreaterThan(first.seq);
  });

  test("keeps the time that is given, also where it runs backwards", async () => {
    const { session } = await grow("");
    await session.append({ ...userMessage("late"), id: "late", createdAtMs: 2_000 });
    await session.append({ ...userMessage("early"), id: "early", createdAtMs: 1_000 });
    expect((await session.path()).map(({ createdAtMs }) => createdAtMs)).toEqual([2_000, 1_000]);
  });

  test("changes no entry that is there", async () => {
    const { session } = await grow("u1 a1 u2");
    const before = await session.path();
    await session.append(userMessage("u3"));
    expect((await session.path()).slice(0, 3)).toEqual(before);
  });

  test("keeps the order of calls that nobody awaits, each under the one before it", async () => {
    const { session } = await grow("");
    const words = Array.from({ length: 40 }, (_, at) => `u${at}`);
    await Promise.all(words.map((word) => session.append(entryNamed(word))));
    expect(await pathNames(session)).toBe(words.join(" "));
  });

  test("that fails stops none that was called after it", async () => {
    const { session } = await grow("u1");
    const outcomes = await Promise.allSettled([session.append({ type: "custom" } as never), session.append(entryNamed("a1"))]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
    expect(await pathNames(session)).toBe("u1 a1");
  });

  test("takes a place the caller names for itself as no part of the entry", async () => {
    const { session } = await grow("u1 a1");
    await session.append({ ...entryNamed("u2"), seq: 1, parentId: "u1" } as EntryInput);
    expect(await session.entry("u2")).toMatchObject({ parentId: "a1" });
  });

  test("keeps every field that is not known, at every depth", async () => {
    const { session } = await grow("");
    const block = { type: "thinking", thinking: "…", thinkingSignature: "EqQB/+==\u2028", vendor: { deep: [1, null] } } as const;
    const entry = { ...assistantMessage([block], { responseId: "r" }), id: "a", host: { mark: true } } as EntryInput;
    await session.append(entry);
    expect(await session.entry("a")).toMatchObject({
      host: { mark: true },
      message: { responseId: "r", content: [block] },
    });
  });
});

describe("repeating an append", () => {
  test("with the same id and content writes nothing and is no error", async () => {
    const { session } = await grow("u1 a1");
    const first = await session.entry("a1");
    expect(await session.append(entryNamed("a1"))).toEqual({ id: "a1", seq: first.seq });
    expect(await treeNames(session)).toBe(">u1 u1>a1");
    expect(session.leafId).toBe("a1");
  });

  test("is the same content whatever the order of its members", async () => {
    const { session } = await grow("");
    await session.append({ type: "custom", customType: "t", data: { a: 1, b: [{ c: 2, d: 3 }] }, id: "d" });
    await session.append({ data: { b: [{ d: 3, c: 2 }], a: 1 }, customType: "t", type: "custom", id: "d" });
    expect((await session.record()).entryCount).toBe(1);
  });

  test("leaves the leaf where it went since", async () => {
    const { session } = await grow("u1 a1 u2");
    await session.append(entryNamed("a1"));
    await session.append(entryNamed("a2"));
    expect(await pathNames(session)).toBe("u1 a1 u2 a2");
  });

  test("does not hide from its handle that another writer took the leaf elsewhere", async () => {
    const { store, session } = await grow("u1 a1");
    const other = await store.openSession(session.id);
    await other.moveLeaf("u1");
    await other.append(entryNamed("a2"));
    await session.append(entryNamed("a1"));
    await expect(session.append(entryNamed("u3"))).rejects.toMatchObject({ code: "LEAF_MOVED", expected: "a1", actual: "a2" });
    const batch = ["a1", "u3"].map((word) => ({ kind: "entry", entry: entryNamed(word) }) as const);
    await expect(session.write(batch)).rejects.toMatchObject({ code: "LEAF_MOVED" });
    expect(await treeNames(session)).toBe(">u1 u1>a1 u1>a2");
  });

  test.each(["branch", "follow"] as const)("with onConflict %s moves no leaf and logs no move", async (onConflict) => {
    const { store, session } = await grow("u1 a1");
    const other = await store.openSession(session.id);
    await other.moveLeaf("u1");
    await other.append(entryNamed("u2"));
    const moves = await session.leafMoves();
    await session.append(entryNamed("a1"), { onConflict });
    expect(await other.refresh()).toBe("u2");
    expect(await session.leafMoves()).toEqual(moves);
  });

  test("in the middle of a batch leaves what is new in one line", async () => {
    const { session } = await grow("u1 a1");
    await session.write(["u5", "u1", "u6"].map((word) => ({ kind: "entry", entry: entryNamed(word) }) as const));
    expect(await pathNames(session)).toBe("u1 a1 u5 u6");
  });

  test("with other content is a conflict, and nothing is written", async () => {
    const { session } = await grow("u1 a1");
    const other = session.append({ ...assistantMessage("something else"), id: "u1" });
    await expect(other).rejects.toThrow(EntryConflictError);
    await expect(other).rejects.toMatchObject({ code: "ENTRY_CONFLICT", entryId: "u1" });
    expect(await treeNames(session)).toBe(">u1 u1>a1");
  });

  test("in another session is another entry: ids are unique within one", async () => {
    const { store } = await grow("u1");
    const { session } = await grow("u1 a1", { store });
    expect(await pathNames(session)).toBe("u1 a1");
  });
});

describe("what a write does not understand", () => {
  test("a message where an entry is expected is refused with the way to make one", async () => {
    const { session } = await grow("");
    const bare = session.append({ role: "user", content: "hi" } as never);
    await expect(bare).rejects.toThrow(/userMessage\(text\)/);
    await expect(session.append("hi" as never)).rejects.toThrow(/a text; .* userMessage\("…"\)/);
  });

  test("a message without any content is refused: nothing could be told from it later", async () => {
    const { session } = await grow("");
    const empty = session.append({ type: "message", message: { role: "user", content: undefined } } as never);
    await expect(empty).rejects.toMatchObject({ code: "INVALID_ENTRY", path: "message.content" });
    expect((await session.record()).entryCount).toBe(0);
  });

  test("is refused instead of being acknowledged", async () => {
    const { session } = await grow("u1");
    const unknown = { kind: "remove", entryId: "u1" } as never;
    await expect(session.write([unknown])).rejects.toMatchObject({ code: "INVALID_ARGUMENT", argument: "writes[0].kind" });
    const conflict = session.append(entryNamed("a1"), { onConflict: "overwrite" as never });
    await expect(conflict).rejects.toMatchObject({ code: "INVALID_ARGUMENT", argument: "options.onConflict" });
    const label = session.write([{ kind: "label", entryId: "u1", label: "x", createdAtMs: 1.5 }]);
    await expect(label).rejects.toMatchObject({ code: "INVALID_ENTRY", path: "createdAtMs" });
    expect(await treeNames(session)).toBe(">u1");
  });
});

describe("a batch", () => {
  test("writes entries, labels, values and moves of the leaf together", async () => {
    const { session } = await grow("u1 a1");
    const written = await session.write([
      { kind: "entry", entry: entryNamed("u2") },
      { kind: "label", entryId: "u2", label: "here" },
      { kind: "value", key: "k", value: 1 },
      { kind: "moveLeaf", to: "a1" },
      { kind: "entry", entry: entryNamed("u3") },
    ]);
    expect(written.map(({ id }) => id)).toEqual(["u2", "u3"]);
    expect(await treeNames(session)).toBe(">u1 u1>a1 a1>u2 a1>u3");
    expect(session.leafId).toBe("u3");
    expect(await session.labels.list()).toMatchObject([{ entryId: "u2", label: "here" }]);
    expect(await session.values.get("k")).toBe(1);
  });

  test("that fails at its end has written nothing of its beginning", async () => {
    const { store, session } = await grow("u1 a1");
    const failing = session.write([
      { kind: "entry", entry: entryNamed("u2") },
      { kind: "label", entryId: "u1", label: "never" },
      { kind: "value", key: "never", value: 1 },
      { kind: "moveLeaf", to: "no such entry" },
    ]);
    await expect(failing).rejects.toThrow(EntryNotFoundError);
    expect(await treeNames(session)).toBe(">u1 u1>a1");
    expect(await session.labels.list()).toEqual([]);
    expect(await session.values.list()).toEqual([]);
    expect(session.leafId).toBe("a1");
    expect(await session.refresh()).toBe("a1");
    expect((await store.search({ query: "u2" })).total).toBe(0);
    expect(await findingsOf(store)).toEqual([]);
  });

  test("after a failed one the handle goes on from where it stood", async () => {
    const { session } = await grow("u1");
    await expect(session.append(entryNamed("x1:nowhere"))).rejects.toThrow(InvalidReferenceError);
    await session.append(entryNamed("a1"));
    expect(await contextNames(session)).toBe("u1 a1");
  });

  test("that is empty writes nothing", async () => {
    const { session } = await grow("u1");
    expect(await session.write([])).toEqual([]);
    expect(session.leafId).toBe("u1");
  });
});

describe("the gate", () => {
  const bad: readonly (readonly [string, unknown, string])[] = [
    ["an unknown type", { type: "massage" }, "type"],
    ["an unknown role", { type: "message", message: { role: "robot", content: "" } }, "message.role"],
    ["a missing field", { type: "model_change" }, "modelId"],
    [
      "a block deep inside",
      { type: "message", message: { role: "user", content: [{ type: "text", text: 1 }] } },
      "message.content[0].text",
    ],
    ["an image that is no base64", image("not base64!", "image/png"), "message.content[0].data"],
    ["an image of no image type", image("aGk=", "text/plain"), "message.content[0].mimeType"],
    ["a negative count of tokens", { ...assistantMessage("x", { usage: { input: -1 } }) }, "message.usage.input"],
    ["an id with a space", { ...userMessage("x"), id: "a b" }, "id"],
    ["an empty id", { ...userMessage("x"), id: "" }, "id"],
    ["an id with a control character", { ...userMessage("x"), id: "a\u001b[2J" }, "id"],
    ["a time in parts of a millisecond", { ...userMessage("x"), createdAtMs: 1.5 }, "createdAtMs"],
  ];

  test.each(bad)("refuses %s and names the field", async (_what, entry, path) => {
    const { session } = await grow("u1");
    await expect(session.append(entry as EntryInput)).rejects.toMatchObject({ code: "INVALID_ENTRY", path });
    await expect(session.append(entry as EntryInput)).rejects.toThrow(InvalidEntryError);
    expect((await session.record()).entryCount).toBe(1);
  });

  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  const unserialisable: readonly (readonly [string, unknown, string])[] = [
    ["a BigInt", { n: 1n }, "entry.data.n"],
    ["a function", { list: [0, () => 0] }, "entry.data.list[1]"],
    ["a symbol", { s: Symbol("s") }, "entry.data.s"],
    ["NaN", { n: Number.NaN }, "entry.data.n"],
    ["infinity", { n: Number.POSITIVE_INFINITY }, "entry.data.n"],
    ["a Date", { at: new Date(0) }, "entry.data.at"],
    ["a Map", { map: new Map() }, "entry.data.map"],
    ["an undefined element", { list: [0, undefined] }, "entry.data.list[1]"],
    ["a list of floats", { bytes: new Float32Array(2) }, "entry.data.bytes"],
  ];

  test.each(unserialisable)("refuses %s, which JSON cannot keep, before anything is written", async (_what, data, path) => {
    const { session } = await grow("u1");
    const append = session.append({ type: "custom", customType: "t", data });
    await expect(append).rejects.toThrow(UnserializableValueError);
    await expect(append).rejects.toMatchObject({ code: "UNSERIALIZABLE_VALUE", path });
    expect(await pathNames(session)).toBe("u1");
  });

  test("refuses a cycle instead of following it", async () => {
    const { session } = await grow("u1");
    await expect(session.append({ type: "custom", customType: "t", data: cycle })).rejects.toThrow(UnserializableValueError);
  });

  test("takes null content, as other programs write it, for none", async () => {
    const { session } = await grow("");
    await session.append({ type: "message", message: { role: "user", content: null } });
    await session.append({ type: "message", message: { role: "assistant", content: null } });
    await session.append({ type: "message", message: { role: "system", content: null } });
    const { messages, system } = await session.context();
    expect(messages.map((message) => "content" in message && message.content)).toEqual([[], []]);
    expect(system).toBe("");
  });

  test("takes a reply without usage, model or reason, and a result without a name", async () => {
    const { session } = await grow("");
    await session.append({ ...assistantMessage([{ type: "toolCall", id: "c", name: "t", arguments: {} }]), id: "a" });
    await session.append({ ...toolResult("c", "ok"), id: "r" });
    expect(await session.entry("r")).toMatchObject({ message: { isError: false, toolCallId: "c" } });
  });

  test("keeps U+2028, NUL, lone halves of pairs and opaque signatures as they came", async () => {
    const { session } = await grow("");
    const text = "a\u2028b\u2029c\0d\ud83de\u{1f600}";
    await session.append({ ...userMessage(text), id: "u" });
    expect(await session.entry("u")).toMatchObject({ message: { content: text } });
  });
});

describe("a reference", () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ["a first kept entry that is not there", "c1:zz", "firstKeptEntryId"],
    ["a first kept entry on another branch", "c1:u3", "firstKeptEntryId"],
    ["the compaction itself as its first kept entry", "c1:c1", "firstKeptEntryId"],
    ["an edit of an entry that is not there", "x1:zz", "targetId"],
    ["an edit of an entry on another branch", "x1:u3", "targetId"],
    ["an abandoned leaf that is not there", "b1:zz", "fromId"],
  ];

  test.each(cases)("to %s is refused, and nothing is written", async (_what, word, field) => {
    const { session } = await grow("u1 a1 u3 @a1 u2");
    await expect(session.append(entryNamed(word))).rejects.toMatchObject({ code: "INVALID_REFERENCE", field });
    expect(await pathNames(session)).toBe("u1 a1 u2");
  });

  test("to an abandoned leaf on another branch is what a branch summary is for", async () => {
    const { session } = await grow("u1 a1 u3 @a1 b1:u3");
    expect(await pathNames(session)).toBe("u1 a1 b1");
  });

  test("to an entry of another session is refused", async () => {
    const { store } = await grow("u1 elsewhere".replace("elsewhere", "a9"));
    const { session } = await grow("u1", { store });
    await expect(session.append(entryNamed("b1:a9"))).rejects.toThrow(InvalidReferenceError);
    await expect(session.moveLeaf("a9")).rejects.toThrow(EntryNotFoundError);
  });
});

describe("an append that names the leaf it was decided about", () => {
  test("is written while the leaf stands there", async () => {
    const { session } = await grow("u1 a1");
    await session.append(entryNamed("u2"), { expectedLeafId: "a1" });
    expect(await pathNames(session)).toBe("u1 a1 u2");
  });

  test("writes nothing when the same handle moved on before its turn came", async () => {
    const { session } = await grow("u1 a1");
    const first = session.append(entryNamed("u2"));
    await expect(session.append(entryNamed("c1:u1"), { expectedLeafId: "a1" })).rejects.toThrow(LeafMovedError);
    await first;
    expect(await pathNames(session)).toBe("u1 a1 u2");
  });

  test("writes nothing when another handle moved the leaf, whether it would append or only move", async () => {
    const { store, session } = await grow("u1 a1");
    const other = await store.openSession(session.id);
    await other.append(entryNamed("u2"));
    const late = { expectedLeafId: "a1", onConflict: "follow" } as const;
    await expect(session.append(entryNamed("c1:u1"), late)).rejects.toMatchObject({ code: "LEAF_MOVED", expected: "a1", actual: "u2" });
    await expect(session.write([{ kind: "moveLeaf", to: "u1" }], late)).rejects.toThrow(LeafMovedError);
    expect(await session.refresh()).toBe("u2");
    expect(await treeNames(session)).toBe(">u1 u1>a1 a1>u2");
  });

  test("can name the place before the first entry", async () => {
    const { session } = await grow("");
    await session.append(entryNamed("u1"), { expectedLeafId: null });
    await expect(session.append(entryNamed("u2"), { expectedLeafId: null })).rejects.toThrow(LeafMovedError);
  });
});

function image(data: string, mimeType: string) {
  return { type: "message", message: { role: "user", content: [{ type: "image", data, mimeType }] } };
}

describe("the builders of messages", () => {
  test("check the fields they know, and take others as they are", () => {
    // @ts-expect-error usage holds counts
    expect(() => assistantMessage("x", { usage: "much" })).toThrow("Not a valid entry: message.usage: must be an object of token counts.");
    // @ts-expect-error it is a text
    assistantMessage("x", { model: 3 });
    const message = { role: "assistant", content: "x", model: "m", responseId: "r" };
    expect(assistantMessage("x", { model: "m", responseId: "r" })).toEqual({ type: "message", message });
  });
});
