import { describe, expect, test } from "vitest";
import { assistantMessage, systemMessage } from "../../../src/entry/builders.js";
import { buildSessionContext } from "../../../src/session/session.js";
import { contextNames, entryNamed, grow, plant } from "../../world/grow.js";
import { findingsOf } from "../../world/stores.js";

describe("the context of a session", () => {
  test("is the path of its leaf, and nothing of other branches", async () => {
    const { session } = await grow("u1 a1 u2 a2 @a1 u3");
    expect(await contextNames(session)).toBe("u1 a1 u3");
    expect(await contextNames(session, "a2")).toBe("u1 a1 u2 a2");
  });

  test("names the entry behind each message", async () => {
    const { session } = await grow("u1 m1 a1");
    const { messages, entries } = await buildSessionContext(session);
    expect(entries).toEqual(["u1", "a1"]);
    expect(messages).toEqual([
      { role: "user", content: "u1" },
      { role: "assistant", content: [{ type: "text", text: "a1" }] },
    ]);
  });

  test("cannot be changed by who was given it, so that the next one is sent as it was written", async () => {
    const { session } = await grow("u1 a1");
    const [question] = (await session.context()).messages;
    expect(() => Object.assign(question ?? {}, { content: "something else" })).toThrow(TypeError);
    expect((await session.context()).messages[0]).toEqual({ role: "user", content: "u1" });
  });

  test("is empty before the first entry", async () => {
    const { session } = await grow("u1 m1 @");
    const nothing = { messages: [], entries: [], model: null, thinkingLevel: null, system: null, compaction: null };
    expect(await session.context()).toEqual(nothing);
    expect(await session.context({ leafId: null })).toEqual(nothing);
  });

  test("shows what hosts put in as messages, and neither their data nor foreign records", async () => {
    const { session } = await grow("u1 n1 d1");
    await session.append({ type: "foreign", originalType: "x", raw: { a: 1 }, id: "f1" });
    const { messages, entries } = await session.context();
    expect(entries).toEqual(["u1", "n1"]);
    expect(messages[1]).toMatchObject({ role: "custom", customType: "note", content: "n1" });
  });

  test("leaves out a command that the person kept to themselves", async () => {
    const { session } = await grow("u1");
    const run = { role: "bashExecution", command: "ls", output: "a.ts" } as const;
    await session.append({ type: "message", message: run, id: "shown" });
    await session.append({ type: "message", message: { ...run, excludeFromContext: true }, id: "kept" });
    expect(await contextNames(session)).toBe("u1 shown");
  });

  test("of an entry that is not there is refused", async () => {
    const { session } = await grow("u1");
    await expect(session.context({ leafId: "zz" })).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
  });

  test("is where the leaf stands now, also where another handle moved it", async () => {
    const { store, session } = await grow("u1 a1 u2");
    await plant(await store.openSession(session.id), "@a1 u3");
    expect(await contextNames(session)).toBe("u1 a1 u3");
    await expect(session.append(entryNamed("u4"))).rejects.toMatchObject({ code: "LEAF_MOVED" });
  });
});

describe("settings", () => {
  test("are told without the entries of the path, and are those of the context", async () => {
    const { session } = await grow("s1 m1 h1 u1 a1 @u1 m2 a2");
    for (const leafId of ["s1", "a1", "a2", null]) {
      const { model, thinkingLevel, system } = await session.context({ leafId });
      expect(await session.settings(leafId)).toEqual({ model, thinkingLevel, system });
    }
  });

  test("come from the whole path, also from before a compaction that kept nothing", async () => {
    const { session } = await grow("s1 m1 h1 u1 a1 c1 u2");
    expect(await session.context()).toMatchObject({
      system: "s1",
      model: { provider: "p", modelId: "m1" },
      thinkingLevel: "h1",
      entries: ["c1", "u2"],
    });
  });

  test("are those of the branch: what another branch set does not count", async () => {
    const { session } = await grow("m1 h1 s1 u1 m2 h2 s2 u2 @u1 u3");
    expect(await session.context()).toMatchObject({ system: "s1", model: { modelId: "m1" }, thinkingLevel: "h1" });
    expect(await session.context({ leafId: "u2" })).toMatchObject({ system: "s2", model: { modelId: "m2" }, thinkingLevel: "h2" });
  });

  test("take the model of a reply that names one, until the next change", async () => {
    const { session } = await grow("m1 u1");
    await session.append(assistantMessage("x", { provider: "q", model: "m2" }));
    expect((await session.context()).model).toEqual({ provider: "q", modelId: "m2" });
    await session.append(assistantMessage("y"));
    expect((await session.context()).model).toEqual({ provider: "q", modelId: "m2" });
    await plant(session, "m3");
    expect((await session.context()).model).toEqual({ provider: "p", modelId: "m3" });
  });

  test("may set the thinking level back to the host's default", async () => {
    const { session } = await grow("h1 u1");
    await session.append({ type: "thinking_level_change", thinkingLevel: null });
    expect((await session.context()).thinkingLevel).toBeNull();
  });

  test("take the latest system message, joined from its blocks, and show none among the messages", async () => {
    const { session } = await grow("s1 u1");
    await session.append(systemMessage("new"));
    const blocks = [
      { type: "text", text: "one" },
      { type: "text", text: "two" },
    ] as const;
    await session.append({ type: "message", message: { role: "system", content: [...blocks] } });
    expect(await session.context()).toMatchObject({ system: "one\ntwo", entries: ["u1"] });
  });
});

describe("a compaction", () => {
  test("puts one summary first, then what it kept, then what came after", async () => {
    const { session } = await grow("u1 a1 u2 a2 c1:u2 u3 a3");
    const { messages, entries, compaction } = await session.context();
    expect(entries.join(" ")).toBe("c1 u2 a2 u3 a3");
    expect(messages[0]).toEqual({ role: "compactionSummary", summary: "c1", tokensBefore: undefined });
    expect(compaction).toMatchObject({ entryId: "c1", payload: { firstKeptEntryId: "u2" } });
  });

  test("that keeps nothing leaves only its summary and what comes after", async () => {
    const { session } = await grow("u1 a1 c1 u2");
    expect(await contextNames(session)).toBe("c1 u2");
  });

  test("may keep everything, and may keep from a call on", async () => {
    const { session } = await grow("u1 k1 r1:k1 a1 c1:u1");
    expect(await contextNames(session)).toBe("c1 u1 k1 r1 a1");
    await plant(session, "c2:k1");
    expect(await contextNames(session)).toBe("c2 k1 r1 a1");
  });

  test.each(["m1", "h1", "d1", "x1:u1", "y1:u1"])("may keep from an entry on that shows nothing itself, such as %s", async (word) => {
    const [id = ""] = word.split(":");
    const { store, session } = await grow(`u1 a1 ${word} u2 a2 c1:${id} u3`);
    expect(await contextNames(session)).toBe("c1 u2 a2 u3");
    expect((await session.context()).compaction?.payload.firstKeptEntryId).toBe(id);
    expect(await contextNames(await store.forkSession(session.id))).toBe("c1 u2 a2 u3");
    expect(await findingsOf(store)).toEqual([]);
  });

  test("that is the latest counts; the one before is not shown, nor what it summarised", async () => {
    const { session } = await grow("u1 a1 c1:a1 u2 a2 c2:u2 u3");
    expect(await contextNames(session)).toBe("c2 u2 a2 u3");
  });

  test("may keep from before an earlier one, whose summary is not shown again", async () => {
    const { session } = await grow("u1 a1 u2 c1:u2 a2 c2:a1 u3");
    expect(await contextNames(session)).toBe("c2 a1 u2 a2 u3");
  });

  test("counts on its own branch only", async () => {
    const { session } = await grow("u1 a1 c1 u2 @a1 u3");
    expect(await contextNames(session)).toBe("u1 a1 u3");
    expect(await contextNames(session, "u2")).toBe("c1 u2");
    expect(await contextNames(session, "a1")).toBe("u1 a1");
  });

  test("keeps a result of a kept tail only with its call", async () => {
    const { session } = await grow("u1 k1 r1:k1 a1 c1:r1 u2");
    expect(await contextNames(session)).toBe("c1 a1 u2");
  });

  test("changes no entry: what it summarised can be read, searched and continued", async () => {
    const { store, session } = await grow("u1 a1 c1 u2");
    expect((await store.search({ query: "u1" })).total).toBe(1);
    await plant(session, "@a1 u3");
    expect(await contextNames(session)).toBe("u1 a1 u3");
  });

  test("can be undone by omitting it, from there on", async () => {
    const { session } = await grow("u1 a1 c1:a1 u2 x1:c1 u3");
    expect(await contextNames(session)).toBe("u1 a1 u2 u3");
    expect(await contextNames(session, "u2")).toBe("c1 a1 u2");
  });

  test("that is omitted brings back the one before it", async () => {
    const { session } = await grow("u1 a1 c1:a1 u2 c2 u3 x1:c2");
    expect(await contextNames(session)).toBe("c1 a1 u2 u3");
  });

  test("that is omitted brings back none that is omitted itself", async () => {
    const { session } = await grow("u1 c1 u2 c2 u3 x1:c1 x2:c2");
    expect(await contextNames(session)).toBe("u1 u2 u3");
  });

  test("that is omitted brings back one that was brought back behind it", async () => {
    const { session } = await grow("u1 u2 c1:u2 x1:c1 u3 c2:u3 y1:c1 x2:c2");
    expect(await contextNames(session)).toBe("c1 u2 u3");
  });

  test("before the one in force may be omitted without a change", async () => {
    const { session } = await grow("u1 c1 u2 c2 u3 x1:c1");
    expect(await contextNames(session)).toBe("c2 u3");
  });

  test("that was omitted comes back with a replacement, which is its summary from there on", async () => {
    const { session } = await grow("u1 a1 c1:a1 x1:c1 y1:c1 u2");
    const { messages, entries } = await session.context();
    expect(entries.join(" ")).toBe("c1 a1 u2");
    expect(messages[0]).toMatchObject({ role: "compactionSummary", summary: "y1" });
  });

  test("after one that was undone counts again", async () => {
    const { session } = await grow("u1 a1 c1 x1:c1 u2 c2:u2 u3");
    expect(await contextNames(session)).toBe("c2 u2 u3");
  });

  test("undone on one branch counts on the other", async () => {
    const { session } = await grow("u1 c1 u2 x1:c1 u3 @u2 u4");
    expect(await contextNames(session)).toBe("c1 u2 u4");
    expect(await contextNames(session, "u3")).toBe("u1 u2 u3");
  });
});

describe("a branch summary", () => {
  test("is one message at its place that tells of the branch that was left", async () => {
    const { session } = await grow("u1 a1 u2 a2 @a1 b1:a2 u3");
    const { messages, entries } = await session.context();
    expect(entries.join(" ")).toBe("u1 a1 b1 u3");
    expect(messages[2]).toEqual({ role: "branchSummary", summary: "b1", fromId: "a2" });
  });

  test("can be summarised by a later compaction like everything else", async () => {
    const { session } = await grow("u1 u2 @u1 b1:u2 u3 c1:u3");
    expect(await contextNames(session)).toBe("c1 u3");
  });
});

describe("an edit of the context", () => {
  test("of the system message changes the context's system, and omitting it brings back the one before", async () => {
    const { session } = await grow("s1 u1 s2 u2 y1:s2");
    expect((await session.context()).system).toBe("y1");
    await plant(session, "x1:s2");
    expect((await session.context()).system).toBe("s1");
    expect((await session.context({ leafId: "u2" })).system).toBe("s2");
  });

  test("of one system message after the other brings back the ones before (the cube of their number would pass the time limit of any test)", async () => {
    const { session } = await grow("u1");
    const ids = Array.from({ length: 1500 }, (_, at) => `s${at}`);
    await session.append(ids.map((id) => ({ ...systemMessage(id), id })));
    await session.append(
      ids
        .slice(2)
        .reverse()
        .map((targetId) => ({ type: "context_edit", targetId, replacement: null })),
    );
    expect((await session.context()).system).toBe("s1");
    await session.append({ type: "context_edit", targetId: "s7", replacement: { content: "seven" } });
    await session.append({ type: "context_edit", targetId: "s0", replacement: null });
    expect((await session.context()).system).toBe("seven");
    await plant(session, "x1:s7");
    expect((await session.context()).system).toBe("s1");
  });

  test("that omits takes the entry out from there on", async () => {
    const { session } = await grow("u1 a1 u2 x1:a1 u3");
    expect(await contextNames(session)).toBe("u1 u2 u3");
    expect(await contextNames(session, "u2")).toBe("u1 a1 u2");
  });

  test("that replaces shows other content, and the entry itself stays as it was", async () => {
    const { session } = await grow("u1 a1 y1:a1 y2:u1");
    expect((await session.context()).messages).toEqual([
      { role: "user", content: "y2" },
      { role: "assistant", content: [{ type: "text", text: "y1" }] },
    ]);
    expect(await session.entry("a1")).toMatchObject({ message: { content: [{ type: "text", text: "a1" }] } });
  });

  test("that is the latest of its target counts", async () => {
    const { session } = await grow("u1 a1 x1:a1 y1:a1");
    expect(await contextNames(session)).toBe("u1 a1");
    await plant(session, "x2:a1");
    expect(await contextNames(session)).toBe("u1");
  });

  test("counts on its own branch only", async () => {
    const { session } = await grow("u1 a1 x1:u1 u2 @a1 u3");
    expect(await contextNames(session)).toBe("u1 a1 u3");
    expect(await contextNames(session, "u2")).toBe("a1 u2");
  });

  test("of a tool result replaces what the tool said, and it stays the result of its call", async () => {
    const { session } = await grow("k1 r1:k1 y1:r1");
    expect((await session.context()).messages[1]).toMatchObject({ role: "toolResult", toolCallId: "k1", content: "y1" });
  });

  test("of every kind of message puts the text where that kind has it", async () => {
    const { session } = await grow("u1 n1 b1");
    await session.append({ type: "message", message: { role: "bashExecution", command: "ls", output: "long" }, id: "e1" });
    await plant(session, "y1:n1 y2:b1 y3:e1");
    expect((await session.context()).messages.slice(1)).toMatchObject([
      { content: "y1" },
      { summary: "y2" },
      { command: "ls", output: "y3" },
    ]);
  });

  test("of a message in the kept tail counts after the compaction too", async () => {
    const { session } = await grow("u1 a1 u2 a2 x1:a2 c1:u2 u3");
    expect(await contextNames(session)).toBe("c1 u2 u3");
  });

  test("of what a compaction has summarised changes nothing", async () => {
    const { session } = await grow("u1 a1 c1 u2 x1:a1");
    expect(await contextNames(session)).toBe("c1 u2");
  });
});
