import { describe, expect, test } from "vitest";
import { fail, hang, startModelServer } from "../../../../compaction/test/model/model-server.js";
import { longSession, messagesOf, standOf } from "../../commands/long-session.js";
import { parserSession, type World, world } from "../../world.js";

async function withLongSession(): Promise<World> {
  const here = world();
  await longSession(here);
  return here;
}

describe("bough go --summarize", () => {
  test("leaves a summary of the branch at the entry, with the leaf at it, and bough undo goes back", async () => {
    const here = await withLongSession();
    const { exit, out } = await here.run(["go", "long", "a8", "--summarize", "--label", "tried"]);
    expect(exit).toBe(0);
    const { leafId, entries } = await standOf(here);
    expect(entries).toBe(41);
    const shown = (await here.json("show", "long", String(leafId))) as { readonly label: string; readonly entry: Record<string, unknown> };
    expect(shown.label).toBe("tried");
    expect(shown.entry).toMatchObject({ type: "branch_summary", parentId: "a8", fromId: "a10" });
    expect(out).toMatch(new RegExp(`^leaf: ${String(leafId).slice(0, 4)} \\(branch summary: `));
    expect(out).toContain("written by: no model: it is an extract of the entries");
    expect(out).toContain("Back: bough undo long-session\n");
    expect((await messagesOf(here)).at(-1)?.role).toBe("branchSummary");
    await here.run(["undo", "long"]);
    expect(await standOf(here)).toEqual({ leafId: "a10", entries: 41 });
  });

  test("goes above a message of the user, which is to be said again, and prints it", async () => {
    const here = await withLongSession();
    const { out } = await here.run(["go", "long", "u9", "--summarize"]);
    const { leafId } = await standOf(here);
    expect(await here.json("show", "long", String(leafId))).toMatchObject({ entry: { parentId: "a8" } });
    expect(out).toContain("Message to resend:\nPlease mend part 9; never touch src/lexer.ts.");
  });

  test("goes exactly to the entry without it", async () => {
    const here = await withLongSession();
    await here.run(["go", "long", "u9"]);
    expect((await standOf(here)).leafId).toBe("u9");
  });

  test("writes none where nothing is left behind", async () => {
    const here = await withLongSession();
    await here.run(["go", "long", "a8"]);
    const { out } = await here.run(["go", "long", "a10", "--summarize"]);
    expect(out).toContain("No summary: no entries were left behind.");
    expect(await standOf(here)).toEqual({ leafId: "a10", entries: 40 });
  });

  test("does not move if the leaf is already there", async () => {
    const here = await withLongSession();
    expect((await here.run(["go", "long", "a10", "--summarize"])).exit).toBe(0);
    expect(await standOf(here)).toEqual({ leafId: "a10", entries: 40 });
  });

  test("is written by the model with the given focus; JSON output contains the result", async () => {
    const [here, server] = [await withLongSession(), await startModelServer()];
    server.otherwise("The second try failed on tabs. Read: src/part-9.ts, src/part-10.ts");
    const typed = ["--summarize", "--focus", "why it failed", "--model", "m1", "--base-url", server.baseURL];
    const result = await here.json("go", "long", "a8", ...typed);
    const { leafId } = await standOf(here);
    expect(result).toMatchObject({
      sessionId: "long-session",
      leafId,
      previousLeafId: "a10",
      text: null,
      summaryEntryId: leafId,
      method: "normal",
      model: "m1",
      modelFailure: null,
    });
    expect((result as { readonly summary: string }).summary).toContain("The second try failed on tabs.");
    expect(JSON.stringify(server.requests[0]?.body.messages)).toContain("why it failed");
  });

  test("does not move the leaf when the person interrupts", async () => {
    const [here, server] = [await withLongSession(), await startModelServer()];
    server.otherwise(hang());
    const typed = ["go", "long", "a8", "--summarize", "--model", "m1", "--base-url", server.baseURL];
    const ran = await here.run(typed, { interruptedAt: server.request(0) });
    expect(ran).toMatchObject({ exit: 130, code: "CANCELLED", out: "" });
    expect(ran.err).toContain("bough: Cancelled; the leaf was not moved and nothing was written.\n");
    expect(await standOf(here)).toEqual({ leafId: "a10", entries: 40 });
  });

  test("does not move the leaf when the model fails and no extract is wanted", async () => {
    const [here, server] = [await withLongSession(), await startModelServer()];
    server.otherwise(fail(401, "no"));
    const typed = ["--summarize", "--preset", "pi", "--model", "m1", "--base-url", server.baseURL];
    expect((await here.run(["go", "long", "a8", ...typed])).code).toBe("SUMMARIZER_CALL");
    expect(await standOf(here)).toEqual({ leafId: "a10", entries: 40 });
  });

  test.each([[["--focus", "x"]], [["--label", "x"]], [["--model", "x"]], [["--window", "9"]]])("is what %j needs", async (options) => {
    const here = world();
    await parserSession(here);
    expect(await here.run(["go", "parser", "asst2", ...options])).toMatchObject({ exit: 2, out: "" });
  });
});
