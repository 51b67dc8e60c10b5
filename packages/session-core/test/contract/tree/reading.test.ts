import { describe, expect, test } from "vitest";
import { AmbiguousNameError, EntryNotFoundError } from "../../../src/errors/session-errors.js";
import type { Page, PathScan } from "../../../src/port/records.js";
import type { Session } from "../../../src/session/session.js";
import { entryNamed, grow, names, pathNames, plant } from "../../world/grow.js";
import { collected } from "../../world/stores.js";

const scanned = async (session: Session, scan: PathScan) => names((await session.scan(scan)).items);

async function allPages(session: Session, scan: PathScan): Promise<string> {
  const pages: Page<{ readonly id: string }>[] = [];
  for (let cursor: string | null | undefined; cursor !== null; cursor = pages.at(-1)?.next)
    pages.push(await session.scan({ ...scan, cursor }));
  return pages.map(({ items }) => names(items)).join(" | ");
}

describe("scanning a path", () => {
  const WORLD = "u1 a1 u9 @a1 m1 u2 k1 r1:k1 a2";

  test("goes from the leaf up unless asked to go down", async () => {
    const { session } = await grow(WORLD);
    expect(await scanned(session, {})).toBe("a2 r1 k1 u2 m1 a1 u1");
    expect(await scanned(session, { order: "down" })).toBe("u1 a1 m1 u2 k1 r1 a2");
  });

  test("starts at any entry, and gives nothing before the first", async () => {
    const { session } = await grow(WORLD);
    expect(await scanned(session, { leafId: "u9" })).toBe("u9 a1 u1");
    expect(await scanned(session, { leafId: null })).toBe("");
  });

  test.each(["up", "down"] as const)("%s stops below an entry, which is left out itself", async (order) => {
    const { session } = await grow(WORLD);
    expect((await scanned(session, { order, stopAt: "u2" })).split(" ").sort()).toEqual(["a2", "k1", "r1"]);
    expect(await scanned(session, { order, stopAt: "a2" })).toBe("");
  });

  test("cannot stop at an entry that is not on the path", async () => {
    const { session } = await grow(WORLD);
    await expect(session.scan({ stopAt: "u9" })).rejects.toMatchObject({ code: "INVALID_REFERENCE", field: "stopAt" });
    await expect(session.scan({ stopAt: "zz" })).rejects.toThrow(EntryNotFoundError);
    await expect(session.scan({ leafId: "zz" })).rejects.toThrow(EntryNotFoundError);
  });

  test("gives only the types and roles asked for", async () => {
    const { session } = await grow(WORLD);
    expect(await scanned(session, { types: ["model_change"] })).toBe("m1");
    expect(await scanned(session, { roles: ["user"] })).toBe("u2 u1");
    expect(await scanned(session, { roles: ["user", "toolResult"], order: "down" })).toBe("u1 u2 r1");
  });

  test.each([
    ["up", "a2 r1 k1 | u2 m1 a1 | u1"],
    ["down", "u1 a1 m1 | u2 k1 r1 | a2"],
  ] as const)("%s in pages gives every entry once", async (order, pages) => {
    const { session } = await grow(WORLD);
    expect(await allPages(session, { order, limit: 3 })).toBe(pages);
  });

  test("in pages keeps its filter, its stop, and an end that falls on a page's", async () => {
    const { session } = await grow(WORLD);
    expect(await allPages(session, { limit: 1, types: ["message"], stopAt: "u1" })).toBe("a2 | r1 | k1 | u2 | a1");
    expect(await allPages(session, { limit: 7 })).toBe("a2 r1 k1 u2 m1 a1 u1");
  });

  test("is not disturbed by what is appended between two pages", async () => {
    const { session } = await grow(WORLD);
    const first = await session.scan({ leafId: "a2", limit: 4 });
    await session.append(entryNamed("u5"));
    expect(await scanned(session, { leafId: "a2", cursor: first.next ?? "" })).toBe("m1 a1 u1");
  });

  test("shows nothing of another session, whose page a client may name", async () => {
    const { store, session } = await grow(WORLD);
    const { session: other } = await grow("u7 a7", { store });
    for (const order of ["up", "down"] as const) {
      const { next } = await session.scan({ order, limit: 1 });
      const { items } = await other.scan({ order, cursor: next ?? "" });
      expect(items.map(({ id }) => id).filter((id) => !["u7", "a7"].includes(id))).toEqual([]);
    }
  });

  test("by walking holds a page at a time and gives the same", async () => {
    const { session } = await grow(WORLD);
    expect(names(await collected(session.walk()))).toBe(await pathNames(session));
    expect(names(await collected(session.walk({ leafId: "u9" })))).toBe("u1 a1 u9");
    expect(names(await collected(session.walk({ stopAt: "k1" })))).toBe("r1 a2");
    expect(await collected(session.walk({ leafId: null }))).toEqual([]);
  });

  test("reads a path longer than a page", async () => {
    const { session } = await grow("");
    await session.write(Array.from({ length: 2_100 }, (_, at) => ({ kind: "entry", entry: entryNamed(`u${at}`) }) as const));
    expect((await collected(session.walk())).map(({ id }) => id)).toEqual(Array.from({ length: 2_100 }, (_, at) => `u${at}`));
  });
});

describe("the outline", () => {
  test("has every entry of every branch, parents before children, without bodies", async () => {
    const { session } = await grow("u1 a1 u2 @u1 a2 @ u3");
    const rows = await session.tree.outline();
    const byId = new Map(rows.map((row) => [row.seq, row.id]));
    expect(rows.map(({ id, parentSeq, depth }) => `${parentSeq === null ? "" : byId.get(parentSeq)}>${id}/${depth}`).join(" ")).toBe(
      ">u1/0 u1>a1/1 a1>u2/2 u1>a2/1 >u3/0",
    );
    expect(rows[0]).toEqual({
      id: "u1",
      payloadBytes: Buffer.byteLength(JSON.stringify({ message: { role: "user", content: "u1" } })),
      seq: rows[0]?.seq,
      parentSeq: null,
      type: "message",
      role: "user",
      depth: 0,
      createdAtMs: rows[0]?.createdAtMs,
      preview: "u1",
      isError: false,
      customType: null,
    });
  });

  test("names the type of custom entries, unless it is too long to be searched", async () => {
    const { session } = await grow("n1 d1 u1");
    await session.append({ type: "custom", customType: "x".repeat(501), data: 1, id: "long" });
    expect((await session.tree.outline()).map(({ customType }) => customType)).toEqual(["note", "data", null, null]);
    expect(await session.list({ customType: "x".repeat(501) })).toEqual([]);
    expect(names(await session.list({ customType: "note" }))).toBe("n1");
  });

  test("comes in pages", async () => {
    const { session } = await grow("u1 a1 u2 a2 u3");
    const first = await session.tree.outline({ limit: 2 });
    const rest = await session.tree.outline({ afterSeq: first.at(-1)?.seq ?? 0, limit: 10 });
    expect([names(first), names(rest)]).toEqual(["u1 a1", "u2 a2 u3"]);
  });

  test("says which results are errors, and shows one line of at most 160 units", async () => {
    const { session } = await grow("k1");
    const content = `no\u001b[31m such\nfile ${"x".repeat(500)}`;
    await session.append({ type: "message", message: { role: "toolResult", toolCallId: "k1", content, isError: true }, id: "r1" });
    const row = (await session.tree.outline()).at(-1);
    expect(row).toMatchObject({ isError: true, role: "toolResult" });
    expect(row?.preview).toMatch(/^error: no \[31m such file x+…$/);
    expect(row?.preview).toHaveLength(160);
  });

  test("shows the calls of a reply, and every type by a word of its own", async () => {
    const { session } = await grow("u1 k1 m1 h1 c1 b1 x1:u1 d1 n1");
    expect((await session.tree.outline()).map(({ preview }) => preview)).toEqual([
      "u1",
      "[bash k1]",
      "p/m1",
      "h1",
      "c1",
      "b1",
      "omits u1",
      "data",
      "n1",
    ]);
  });
});

describe("everything since", () => {
  test("a seq is given once, whatever the branch, oldest first", async () => {
    const { store, session } = await grow("u1 a1");
    const { seq } = await session.entry("a1");
    const other = await store.openSession(session.id, { leaf: "other" });
    await plant(session, "u2 @u1 a3");
    await plant(other, "u4");
    expect(names(await session.entriesSince(seq))).toBe("u2 a3 u4");
    expect(names(await session.entriesSince(seq, 1))).toBe("u2");
  });

  test("is of this session only", async () => {
    const { store, session } = await grow("u1");
    await grow("u1 a1", { store });
    await session.append(entryNamed("a2"));
    expect(names(await session.entriesSince(0))).toBe("u1 a2");
    expect(names(await collected(session.entries()))).toBe("u1 a2");
  });
});

describe("entries by id", () => {
  test("come in the order of the ids, from any branch; those that are not there are missing", async () => {
    const { store, session } = await grow("u1 a1 @u1 a2");
    await grow("u1 a9", { store });
    const found = await session.entriesById(["a2", "nobody", "u1", "a9", "a1", "a2"]);
    expect([...found.keys()]).toEqual(["a2", "u1", "a1"]);
    expect(found.get("a1")).toEqual(await session.entry("a1"));
    expect(await session.entriesById([])).toEqual(new Map());
  });

  test("may be more than one query reads", async () => {
    const { session } = await grow("");
    const ids = Array.from({ length: 1_201 }, (_, at) => `u${at}`);
    await session.write(ids.map((id) => ({ kind: "entry", entry: entryNamed(id) }) as const));
    expect([...(await session.entriesById(ids.toReversed())).keys()]).toEqual(ids.toReversed());
  });
});

describe("the tip below an entry", () => {
  test("is the newest of its branch, also with hundreds of newer tips elsewhere; a tip is its own", async () => {
    const { session } = await grow("u1 a1 @u1 a2");
    for (let at = 0; at < 250; at += 1) await session.append(entryNamed(`u${at + 10}`), { parentId: null });
    expect(await session.tree.tipBelow("u1")).toBe("a2");
    expect(await session.tree.tipBelow("a1")).toBe("a1");
    await expect(session.tree.tipBelow("nobody")).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
  });
});

describe("naming an entry", () => {
  test("further up than any path goes finds none", async () => {
    const { session } = await grow("u1 a1");
    await expect(session.resolve("@leaf~99999999999999999999")).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
  });

  const WORLD = "u1 a1 u2 a22 @a1 u3";

  test.each([
    ["u2", "u2"],
    ["a2", "a22"],
    ["@leaf", "u3"],
    ["@root", "u1"],
    ["@leaf~1", "a1"],
    ["~2", "u1"],
    ["u2~1", "a1"],
    ["@other", "a22"],
    ["here", "u2"],
    ["HERE~1", "a1"],
  ])("%s means %s", async (name, id) => {
    const { store, session } = await grow(WORLD);
    await session.labels.set("u2", "Here");
    await (await store.openSession(session.id, { leaf: "other" })).moveLeaf("a22");
    expect(await session.resolve(name)).toBe(id);
  });

  test.each([
    ["~1", "k3"],
    ["~2", "u1"],
    ["k2~1", "u1"],
    ["r3~1", "k3"],
    ["a2~0", "a2"],
  ])("%s counts what a tree shows: replies that only call tools once, results not at all", async (name, id) => {
    const { session } = await grow("u1 k1 r1:k1 k2 r2:k2 k3 r3:k3 a2");
    expect(await session.resolve(name)).toBe(id);
  });

  test("counts such a reply for itself if it has a label, or another branch leaves there", async () => {
    const { session } = await grow("u1 k1 r1:k1 k2 r2:k2 k3 r3:k3 k4 r4:k4 u2 @r2 u3 @u2");
    expect(await Promise.all(["~1", "~2", "~3", "~4"].map((name) => session.resolve(name)))).toEqual(["k4", "k3", "k2", "k1"]);
    const { session: labeled } = await grow("u1 k1 r1:k1 k2 r2:k2 k3 r3:k3 u2");
    await labeled.labels.set("k2", "here");
    expect(await Promise.all(["~1", "~2", "~3"].map((name) => labeled.resolve(name)))).toEqual(["k3", "k2", "k1"]);
  });

  test("by a prefix of several is ambiguous, and the candidates are told", async () => {
    const { session } = await grow(WORLD);
    const asked = session.resolve("u");
    await expect(asked).rejects.toThrow(AmbiguousNameError);
    await expect(asked).rejects.toMatchObject({ candidates: ["u1", "u2", "u3"] });
  });

  test("by a prefix of more than ten tells ten of them, and how many more there are", async () => {
    const { session } = await grow(Array.from({ length: 25 }, (_, at) => `u${at}`).join(" "));
    const failure = await session.resolve("u").catch((error: unknown) => error);
    expect(failure).toMatchObject({ candidates: { length: 10 }, message: expect.stringContaining(" and 15 more.") });
  });

  test("by an exact id is never ambiguous, though it is a prefix of another", async () => {
    const { session } = await grow("u1 u11 u1~1");
    expect(await session.resolve("u1")).toBe("u1");
    expect(await session.resolve("u1~1")).toBe("u1~1");
  });

  test.each(["zz", "@nobody", "~9", "@leaf~3", "%", "_1"])("%s means nothing", async (name) => {
    const { session } = await grow(WORLD);
    await expect(session.resolve(name)).rejects.toThrow(EntryNotFoundError);
  });

  test("@leaf means nothing before the first entry", async () => {
    const { session } = await grow("");
    await expect(session.resolve("@leaf")).rejects.toThrow(EntryNotFoundError);
    await expect(session.resolve("@root")).rejects.toThrow(EntryNotFoundError);
  });
});
