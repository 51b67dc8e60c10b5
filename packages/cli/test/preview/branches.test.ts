import { openStore, type Session } from "@bough/session-core";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { branchLines, loadBranchOverview } from "../../src/preview/branches.js";
import { comparisonLines, loadComparison } from "../../src/preview/comparison.js";
import { loadExactWidths } from "../../src/terminal/width.js";
import { grow } from "../world.js";
import { drawn } from "./drawn.js";

beforeAll(loadExactWidths);

async function grown(names: string): Promise<Session> {
  const store = await openStore({ path: ":memory:" });
  onTestFinished(() => store.close());
  return grow(store, "a-session", names);
}

/** Three ways on from `a1`; the leaf is at the end of the second one. */
const THREE = "u1 a1 u2 a2 <a1 u3 call1 res1 a3 <a1 u4 a4 <u4 a5 <a3";

describe("the branches of a branch point", () => {
  test("have their tips, texts, labels and files; the active branch comes first", async () => {
    const session = await grown(THREE);
    await session.labels.set("a4", "a dead end");
    const { branches, more, isPartial } = await loadBranchOverview(session, "a1");
    expect({ more, isPartial }).toEqual({ more: 0, isPartial: false });
    expect(branches.map(({ id, tipId, label, isActive }) => [id, tipId, label, isActive])).toEqual([
      ["u3", "a3", null, true],
      ["u2", "a2", null, false],
      ["u4", "a5", "a dead end", false],
    ]);
    expect(branches.map(({ entries, messages, tips }) => [entries, messages, tips])).toEqual([
      [4, 3, 1],
      [2, 2, 1],
      [3, 3, 2],
    ]);
    expect(branches[0]).toMatchObject({
      firstText: "said in u3",
      lastText: "replied in a3",
      filesRead: ["src/call1.ts"],
      filesModified: [],
    });
  });

  test("end at the leaf if it is inside the branch", async () => {
    const session = await grown("u1 u2 a2 <u1 u3 <a2 a3 <a2");
    expect((await loadBranchOverview(session, "u1")).branches.map(({ tipId }) => tipId)).toEqual(["a2", "u3"]);
  });

  test("of the session start are its first entries", async () => {
    const session = await grown("u1 a1");
    await session.moveLeaf(null);
    await session.append({ type: "message", message: { role: "user", content: "again" }, id: "u2" });
    expect((await loadBranchOverview(session, null)).branches.map(({ id }) => id)).toEqual(["u2", "u1"]);
  });

  test("are at most twelve, with the number of the others", async () => {
    const session = await grown(`u1 ${Array.from({ length: 20 }, (_, at) => `u1${at} <u1`).join(" ")}`);
    const overview = await loadBranchOverview(session, "u1");
    expect([overview.branches.length, overview.more]).toEqual([12, 8]);
    expect(drawn(branchLines(overview, 100), 100)).toContain("and 8 more branches");
  });

  test.each([20, 40, 80, 120])("are drawn side by side if there is room: %i columns", async (width) => {
    const session = await grown(THREE);
    await session.labels.set("a4", "a dead end");
    expect(drawn(branchLines(await loadBranchOverview(session, "a1"), width), width)).toMatchSnapshot();
  });
});

/** A mark on this entry itself, or one that means its branch up to another entry. */
const upTo = (entryId: string, endId = entryId) => ({ entryId, endId });

describe("a comparison of two branches", () => {
  test("says by label and text what is compared, and how far", async () => {
    const session = await grown(THREE);
    await session.labels.set("u2", "two ways");
    const lines = drawn(comparisonLines(await loadComparison(session, upTo("u2", "a2"), upTo("a3")), 80), 80);
    expect(lines).toMatch(/A \[two ways\] user: said in u2 *\n *up to its end, assistant: replied in a2/);
    expect(lines).toMatch(/B assistant: replied in a3 *\n *up to here/);
    expect(lines).toContain("both after assistant: replied in a1");
  });

  test("has the entries of each path below the common ancestor", async () => {
    const session = await grown(THREE);
    await session.append({ type: "branch_summary", summary: "**Tried** u2.", fromId: "a2", id: "summary" });
    const comparison = await loadComparison(session, upTo("a2"), upTo("summary"));
    expect(comparison).toMatchObject({ commonAncestor: { id: "a1" }, filesInBoth: [], onlyLeft: [], onlyRight: ["src/call1.ts"] });
    expect(comparison.left).toMatchObject({ entries: 2, messages: 2, summary: null, firstTexts: ["said in u2"] });
    expect(comparison.right).toMatchObject({ entries: 5, messages: 3, summary: { entryId: "summary", text: "**Tried** u2." } });
  });

  test("of an entry and its ancestor has one empty side; of an entry with itself, two", async () => {
    const session = await grown(THREE);
    const above = await loadComparison(session, upTo("u1"), upTo("a3"));
    expect([above.commonAncestor?.id, above.left.entries, above.right.entries]).toEqual(["u1", 0, 5]);
    expect(drawn(comparisonLines(above, 60), 60)).toContain("A is above B on the same branch.");
    expect(drawn(comparisonLines(await loadComparison(session, upTo("a3"), upTo("a3")), 60), 60)).toContain(
      "A and B end at the same entry.",
    );
  });

  test.each([20, 40, 80, 120])("is drawn at %i columns", async (width) => {
    const session = await grown(`${THREE} call2 res2`);
    await session.append({ type: "branch_summary", summary: "**Tried** u2, and found that it drops tabs.", fromId: "a2", id: "summary" });
    expect(drawn(comparisonLines(await loadComparison(session, upTo("a5"), upTo("summary")), width), width)).toMatchSnapshot();
  });
});
