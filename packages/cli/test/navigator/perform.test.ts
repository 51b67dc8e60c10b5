import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assistantMessage, userMessage } from "@bough/session-core";
import { beforeAll, describe, expect, it } from "vitest";
import type { NavigatorModel } from "../../src/navigator/model.js";
import { selectedId } from "../../src/navigator/selection.js";
import { textOfLine } from "../../src/terminal/line.js";
import { loadExactWidths } from "../../src/terminal/width.js";
import { opened } from "./living.js";

beforeAll(loadExactWidths);

describe("A navigator on a store", () => {
  it("opens at the current position", async () => {
    const navigator = await opened();
    expect(selectedId(navigator.model)).toBe("asst3");
    expect(navigator.text).toContain("user: said in user1");
  });

  it("labels an entry, changes the label, and removes it", async () => {
    const navigator = await opened();
    const labelled = (label: string | undefined) => navigator.until(({ tree }) => tree?.labels.get("user2") === label);
    await navigator
      .select("user2")
      .press("l")
      .type("before")
      .press("enter")
      .until(({ tree }) => tree?.labels.get("user2") === "before");
    expect(await navigator.other.labels.list()).toMatchObject([{ entryId: "user2", label: "before" }]);
    navigator.press("l").type("!").press("enter");
    await labelled("before!");
    navigator.press("l", "ctrl+u", "enter");
    await labelled(undefined);
    expect(await navigator.other.labels.list()).toEqual([]);
  });

  it("goes to a reply without a summary", async () => {
    const navigator = await opened();
    await navigator
      .select("asst2")
      .press("enter", "1")
      .until(({ result }) => result !== undefined);
    expect(navigator.model.result).toEqual({ kind: "moved", leafId: "asst2", text: null, summaryEntryId: null });
    expect(navigator.session.leafId).toBe("asst2");
  });

  it("returns a user message for editing, and moves to its parent", async () => {
    const navigator = await opened();
    await navigator
      .select("user2")
      .press("enter", "enter")
      .until(({ result }) => result !== undefined);
    expect(navigator.model.result).toEqual({ kind: "moved", leafId: "asst1", text: "said in user2", summaryEntryId: null });
  });

  it("writes a summary of the branch it leaves at the new position", async () => {
    const navigator = await opened();
    await navigator
      .select("asst2")
      .press("enter", "2")
      .until(({ result }) => result !== undefined);
    const { result } = navigator.model;
    if (result?.kind !== "moved" || result.summaryEntryId === null) return expect.fail(JSON.stringify(result));
    expect(await navigator.session.entry(result.summaryEntryId)).toMatchObject({ type: "branch_summary", parentId: "asst2" });
    expect(navigator.session.leafId).toBe(result.leafId);
  });

  it("undoes a move and redoes it, and stays open", async () => {
    const navigator = await opened();
    const standsAt = (id: string) => navigator.until(({ tree }) => tree?.leafId === id);
    await navigator.other.moveLeaf("asst2");
    await standsAt("asst2");
    navigator.press("u");
    await standsAt("asst3");
    expect(navigator.text).toContain("The last move is undone");
    navigator.press("r");
    await standsAt("asst2");
    expect(await (await opened("user1 asst1")).press("u").notice()).toContain("There is no move to undo.");
  });

  it("forks the path to an entry into a new session", async () => {
    const navigator = await opened();
    await navigator
      .select("user2")
      .press("f", "enter")
      .until(({ result }) => result !== undefined);
    const { result } = navigator.model;
    if (result?.kind !== "forked") return expect.fail(JSON.stringify(result));
    const fork = await navigator.store.openSession(result.sessionId);
    expect(await fork.tree.outline()).toHaveLength(3);
  });

  it("says what a fork gets before it makes one, and stays with n", async () => {
    const navigator = await opened();
    navigator.select("user2").press("f");
    expect(navigator.text).toContain("Fork: a new session with the 3 entries up to here.");
    navigator.press("escape");
    expect([navigator.model.dialog.kind, (await navigator.store.listSessions()).items.length]).toEqual(["none", 1]);
    expect(await navigator.press("f", "n").notice()).toMatch(/^Forked: .* This is still the original\.$/);
    expect([navigator.model.result, (await navigator.store.listSessions()).items.length]).toEqual([undefined, 2]);
  });

  it("exports to the path that was typed", async () => {
    const navigator = await opened();
    navigator.select("user2").press("x", "ctrl+u").type("my branch.md").press("enter");
    expect(await navigator.notice()).toBe(`Written to ${join(navigator.folder, "my branch.md")}`);
    navigator.press("x", "escape");
    expect(navigator.model.dialog.kind).toBe("none");
    // As in the shell: the folder of the test is the home.
    navigator.press("x", "ctrl+u").type("~/at home.md").press("enter");
    await navigator.until(({ notice }) => notice?.text === `Written to ${join(navigator.folder, "at home.md")}`);
  });

  it("exports a path as Markdown, and never overwrites a file", async () => {
    const navigator = await opened();
    const path = join(navigator.folder, "bough-parser-s-user2.md");
    expect(await navigator.select("user2").press("x", "enter").notice()).toBe(`Written to ${path}`);
    expect(readFileSync(path, "utf8")).toContain("said in user2");
    writeFileSync(path, "mine");
    navigator.press("x", "enter");
    await navigator.until(({ notice }) => notice?.isError === true);
    expect(readFileSync(path, "utf8")).toBe("mine");
  });

  it("writes only into its folder, whatever characters ids contain", async () => {
    const navigator = await opened("u/../x", "../../up");
    expect(await navigator.press("x", "enter").notice()).toBe(`Written to ${join(navigator.folder, "bough-______up-u____x.md")}`);
    expect(existsSync(join(navigator.folder, "bough-______up-u____x.md"))).toBe(true);
  });

  it("compacts up to an entry after a confirmation", async () => {
    const navigator = await opened();
    for (let at = 0; at < 12; at += 1) {
      await navigator.other.append(userMessage(`question ${at} ${"with many words about the parser ".repeat(60)}`));
      await navigator.other.append(assistantMessage(`answer ${at} ${"with many words about the lexer ".repeat(60)}`));
    }
    await navigator.until(({ tree }) => tree?.leafId === navigator.other.leafId);
    navigator.press(".", "k", "c", "y");
    expect(await navigator.notice()).toMatch(/^Compacted: [\d,]+ tokens reduced to [\d,]+\. bough compact --undo undoes it\./);
    expect(navigator.model.dialog.kind).toBe("none");
    await navigator.until(({ tree }) => tree !== undefined && tree.index.row(tree.index.indexOf(tree.leafId ?? "")).type === "compaction");
    expect(navigator.press(".").text).toContain("[compaction]");
  });

  it("shows a notice if there is nothing to compact", async () => {
    const navigator = await opened();
    navigator.select("asst1").press("c", "y");
    expect(await navigator.notice()).not.toBe("");
    expect([navigator.model.dialog.kind, navigator.model.result]).toEqual(["none", undefined]);
  });

  it("compares two branches", async () => {
    const navigator = await opened();
    await navigator
      .select("asst2")
      .press("m")
      .select("asst3")
      .press("d")
      .until(({ dialog }) => dialog.kind === "comparison");
    expect(navigator.text).toContain("asst2");
    expect(navigator.press("escape").model.dialog.kind).toBe("none");
  });

  it("copies the text of an entry; without text the clipboard is unchanged", async () => {
    const navigator = await opened();
    expect(await navigator.select("user2").press("y").notice()).toContain("Sent 13 characters to the terminal (OSC 52)");
    expect(navigator.copied).toEqual(["said in user2"]);
    await navigator.other.append(userMessage("\u001b[31mred\u001b]52;c;eA==\u0007\r\n\tindented\u009b2J"));
    await navigator.until(({ tree }) => tree?.leafId === navigator.other.leafId);
    await navigator.press(".", "y").notice();
    expect(navigator.copied.pop()).toBe("[31mred]52;c;eA==\n\tindented2J");
    await navigator.other.append(userMessage(""));
    await navigator.until(({ tree }) => tree?.leafId === navigator.other.leafId);
    expect(await navigator.press(".", "y").notice()).toBe("This entry has no text.");
    expect(navigator.copied).toEqual(["said in user2"]);
  });

  it("copies the branch to an entry as a prompt for another agent", async () => {
    const navigator = await opened();
    expect(await navigator.select("user2").press("Y").notice()).toMatch(/^Sent .+ characters to the terminal \(OSC 52\)/);
    const [prompt = ""] = navigator.copied;
    expect(prompt).toMatch(/^Go on with the conversation below/);
    expect([prompt.includes("said in user2"), prompt.includes("asst2")]).toEqual([true, false]);
  });

  it("reads only the last one of the previews that are wanted at once", async () => {
    const navigator = await opened();
    navigator.press("g", "v", "down", "down");
    await navigator.until(({ preview }) => preview.lines !== null);
    expect(navigator.received.filter((kind) => kind === "previewed")).toHaveLength(1);
  });

  it("previews an entry, and the branches below a branch point", async () => {
    const navigator = await opened();
    await navigator
      .select("user2")
      .press("v")
      .until(({ preview }) => preview.lines !== null);
    expect(navigator.text).toContain("said in user2");
    await navigator
      .press("k")
      .select("asst1")
      .until(({ preview }) => textOf(preview.lines).includes("replied in asst1"));
    expect(textOf(navigator.model.preview.lines)).toContain("user2");
  });

  it("searches all entries", async () => {
    const navigator = await opened();
    await navigator
      .press("/")
      .type("asst2")
      .until(({ search }) => search?.hits?.length === 1);
    expect(selectedId(navigator.model)).toBe("asst2");
    navigator.press("escape", "/").type("zzz");
    await navigator.until(({ search }) => search?.hits?.length === 0);
    expect(navigator.text).toContain("No hits.");
  });

  it("shows what another writer adds, and keeps the selected entry", async () => {
    const navigator = await opened();
    navigator.select("user2");
    const { id } = await navigator.other.append(userMessage("said elsewhere"));
    await navigator.until(({ tree }) => tree?.leafId === id);
    expect(navigator.text).toContain("said elsewhere");
    expect(selectedId(navigator.model)).toBe("user2");
  });

  it("shows more new rows than one page has at once", async () => {
    const navigator = await opened("user1");
    const many = Array.from({ length: 5200 }, (_, at) => userMessage(`number ${at}`));
    await navigator.other.write(many.map((entry) => ({ kind: "entry", entry })));
    await navigator.until(({ tree }) => (tree?.index.size ?? 0) > 1);
    expect(navigator.model.tree?.index.size).toBe(5201);
    expect(navigator.model.tree?.index.indexOf(navigator.other.leafId ?? "")).toBe(5200);
  });

  it("ends when the session is deleted", async () => {
    const navigator = await opened();
    await navigator.elsewhere.deleteSession("parser-session");
    await navigator.until(({ result }) => result !== undefined);
    expect(navigator.model.result).toEqual({ kind: "deleted" });
  });

  it("keeps the open field if another effect fails", async () => {
    const navigator = await opened();
    navigator.press("x", "enter");
    await navigator.until(({ notice }) => notice !== null);
    navigator.press("x", "enter", "l").type("mine");
    expect(await navigator.notice()).toContain("exists");
    expect(navigator.text).toContain("Label: mine");
  });
});

function textOf(lines: NavigatorModel["preview"]["lines"]): string {
  return (lines ?? []).map(textOfLine).join("\n");
}
