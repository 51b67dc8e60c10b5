import { describe, expect, test } from "vitest";
import { userMessage } from "../../../src/entry/builders.js";
import type { Session } from "../../../src/session/session.js";
import { entryNamed, grow, pathNames } from "../../world/grow.js";
import { collected, openedStore } from "../../world/stores.js";

/** What a handle can be asked. */
const CALLS: readonly (readonly [name: string, ask: (session: Session) => Promise<unknown>])[] = [
  ["append", (session) => session.append(userMessage("misplaced"), { onConflict: "follow" })],
  ["append after refresh", (session) => session.refresh().then(() => session.append(userMessage("misplaced")))],
  ["write", (session) => session.write([{ kind: "value", key: "k", value: 1 }])],
  ["moveLeaf", (session) => session.moveLeaf(null)],
  ["undoMove", (session) => session.undoMove()],
  ["redoMove", (session) => session.redoMove()],
  ["label", (session) => session.labels.set("u1", "x")],
  ["a write of nothing", (session) => session.write([])],
  ["removal of values", (session) => session.values.deletePrefix("k")],
  ["removal of a value", (session) => session.values.set("k", undefined)],
  ["removal of a label", (session) => session.labels.remove("u1")],
  ["saveTokenCounts", (session) => session.tokenCounts.save("c", new Map([["u1", 1]]))],
  ["tokenCounts", (session) => session.tokenCounts.get("c", ["u1"])],
  ["record", (session) => session.record()],
  ["entry", (session) => session.entry("u1")],
  ["resolve", (session) => session.resolve("u1")],
  ["path", (session) => session.path()],
  ["walk", (session) => collected(session.walk())],
  ["entries", (session) => collected(session.entries())],
  ["children", (session) => session.tree.children(null)],
  ["branchPoints", (session) => session.tree.branchPoints()],
  ["tips", (session) => session.tree.tips()],
  ["outline", (session) => session.tree.outline()],
  ["commonAncestor", (session) => session.tree.commonAncestor("u1", "a1")],
  ["leaves", (session) => session.leaves()],
  ["leafMoves", (session) => session.leafMoves()],
  ["labels", (session) => session.labels.list()],
  ["value", (session) => session.values.get("k")],
  ["values", (session) => session.values.list()],
  ["fileOperations", (session) => session.fileOperations()],
  ["statistics", (session) => session.statistics()],
  ["search", (session) => session.search({ query: "u1" })],
  ["context", (session) => session.context()],
  ["context at an entry", (session) => session.context({ leafId: "u1" })],
  ["settings", (session) => session.settings()],
];

describe("a handle of a session that was deleted, after another one was made with its id", () => {
  test.each(CALLS)("finds no session: %s", async (_name, ask) => {
    const store = await openedStore();
    const { session } = await grow("u1 a1", { store });
    await session.moveLeaf("u1");
    await store.deleteSession(session.id);
    const placed = await store.createSession({ id: session.id });
    await placed.write(["u1", "a1", "u2"].map((id) => ({ kind: "entry" as const, entry: entryNamed(id) })));
    await placed.moveLeaf("a1");
    await expect(ask(session)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND", sessionId: session.id });
    expect(await pathNames(placed)).toBe("u1 a1");
    expect(await placed.record()).toMatchObject({ entryCount: 3 });
  });
});
