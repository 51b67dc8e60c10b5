import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { gate, hang, slow, startModelServer } from "../../../../compaction/test/model/model-server.js";
import { BEFORE, messagesOf, standOf, withLongSession } from "../../commands/long-session.js";
import { world } from "../../world.js";

describe("bough compact without a model", () => {
  test("replaces old entries by an extract, and prints the result and how to undo it", async () => {
    const here = await withLongSession();
    const { exit, out, err } = await here.run(["compact", "long", "--keep", "400"]);
    expect({ exit, err }).toEqual({ exit: 0, err: "" });
    const { leafId, entries } = await standOf(here);
    expect(entries).toBe(BEFORE.entries + 1);
    const [done = "", ...facts] = out.trimEnd().split("\n");
    const [, before, after, messages, kept] = /^compacted: ([\d,]+) → ([\d,]+) tokens, (\d+) → (\d+) messages$/.exec(done) ?? [];
    expect(Number(messages)).toBe(BEFORE.entries);
    expect((await messagesOf(here)).length).toBe(Number(kept));
    expect(Number(after?.replaceAll(",", ""))).toBeLessThan(Number(before?.replaceAll(",", "")));
    expect(facts).toContain("written by: no model: it is an extract of the entries (to configure a model: bough help environment)");
    expect(facts).toContain("window: 200,000 tokens (assumed: the session has no model; --window sets another)");
    expect(facts).toContain(`entry: ${leafId}`);
    expect(facts.slice(-2)).toEqual([`Show it: bough show long-session ${leafId}`, "Undo: bough compact long-session --undo"]);
  });

  test("tells a script the same as JSON, files and facts included", async () => {
    const here = await withLongSession("claude-sonnet-4");
    const result = (await here.json("compact", "long", "--keep", "400", "--focus", "the lexer")) as Record<string, unknown>;
    expect(result).toMatchObject({
      sessionId: "long-session",
      method: "extract",
      trigger: "manual",
      model: null,
      modelFailure: null,
      window: { tokens: 200_000, from: "model", model: "claude-sonnet-4" },
      messagesBefore: BEFORE.entries,
      modifiedFiles: [],
    });
    expect(result["readFiles"]).toContain("src/part-1.ts");
    expect(result["entryId"]).toBe((await standOf(here)).leafId);
  });

  test("keeps nothing but the summary with --keep 0", async () => {
    const here = await withLongSession();
    await here.run(["compact", "long", "--keep", "0"]);
    expect((await messagesOf(here)).map(({ role }) => role)).toEqual(["compactionSummary"]);
  });
});

describe("bough compact --dry-run", () => {
  test("prints what would be summarized and kept, and writes nothing", async () => {
    const here = await withLongSession();
    const { exit, out } = await here.run(["compact", "long", "--keep", "400", "--dry-run"]);
    expect(exit).toBe(0);
    expect(out).toContain("Nothing was written. A compaction would:\nsummarize: ");
    expect(out).toContain("(u1 to ");
    expect(await standOf(here)).toEqual(BEFORE);
  });

  test("has each message in one place", async () => {
    const here = await withLongSession();
    const { plan, dryRun } = (await here.json("compact", "long", "--keep", "400", "--dry-run")) as {
      readonly dryRun: boolean;
      readonly plan: Record<"summarize" | "turnPrefix" | "keep", { readonly messages: number }> & {
        readonly firstKeptEntryId: string;
        readonly tokensBefore: number;
      };
    };
    expect(dryRun).toBe(true);
    expect(plan.summarize.messages + plan.turnPrefix.messages + plan.keep.messages).toBe(BEFORE.entries);
    const { firstKeptEntryId, tokensBefore } = plan;
    expect(await here.json("compact", "long", "--keep", "400")).toMatchObject({ firstKeptEntryId, tokensBefore });
  });
});

describe("bough compact --undo", () => {
  test("gives the context back as it was; going back brings the compaction into force again", async () => {
    const here = await withLongSession();
    const before = await messagesOf(here);
    const { entryId } = (await here.json("compact", "long", "--keep", "400")) as { readonly entryId: string };
    const compacted = await messagesOf(here);
    const { exit, out } = await here.run(["compact", "long", "--undo"]);
    expect(exit).toBe(0);
    expect(await messagesOf(here)).toEqual(before);
    expect(out).toContain(`undone: ${entryId}\n`);
    expect(out).toContain(`Undo: bough go long-session ${entryId}\n`);
    await here.run(["go", "long", entryId]);
    expect(await messagesOf(here)).toEqual(compacted);
  });
});

describe("bough compact with a model", () => {
  const KEEP = ["compact", "long", "--keep", "400"];

  test("ends with 130 and writes nothing when the person interrupts while it writes", async () => {
    const [here, server] = [await withLongSession(), await startModelServer()];
    server.otherwise(hang());
    const asked = server.request(0);
    const ran = await here.run([...KEEP, "--model", "m1", "--base-url", server.baseURL], { interruptedAt: asked });
    expect(ran).toMatchObject({
      exit: 130,
      code: "CANCELLED",
      out: "",
      err: "m1 writes the summary\nbough: Cancelled; nothing was written.\n",
    });
    await (await asked).gone;
    expect(await standOf(here)).toEqual(BEFORE);
  });

  test("ends with 51 and writes nothing when somebody moved the leaf meanwhile", async () => {
    const [here, server] = [await withLongSession(), await startModelServer()];
    const answer = gate();
    server.otherwise(slow("A summary.", answer));
    const running = here.run([...KEEP, "--model", "m1", "--base-url", server.baseURL]);
    await server.request(0);
    await here.run(["go", "long", "a2"]);
    answer.open();
    expect(await running).toMatchObject({ exit: 6, code: "SUPERSEDED", out: "" });
    expect(await standOf(here)).toEqual({ leafId: "a2", entries: BEFORE.entries });
  });
});

test("an undone compaction that came with an import needs a yes, is told whose it was, and is in force again after bough undo", async () => {
  const here = world();
  const at = "2025-11-21T10:00:01.000Z";
  const said = (id: string, parentId: string | null) => ({
    ...{ type: "message", id, parentId, timestamp: at },
    message: { role: "user", content: [{ type: "text", text: `Said in ${id}` }], timestamp: 1763719200000 },
  });
  const compaction = {
    type: "compaction",
    id: "cccc3333",
    parentId: "bbbb2222",
    timestamp: at,
    summary: "## Goal\nTabs.",
    firstKeptEntryId: "bbbb2222",
    tokensBefore: 900,
  };
  const header = { type: "session", version: 3, id: "pi-1", timestamp: at, cwd: "/p" };
  const lines = [header, said("aaaa1111", null), said("bbbb2222", "aaaa1111"), compaction, said("dddd4444", "cccc3333")];
  writeFileSync(here.path("pi.jsonl"), lines.map((line) => JSON.stringify(line)).join("\n"));
  await here.run(["import", here.path("pi.jsonl")]);
  const refused = await here.run(["compact", "pi-1", "--undo"]);
  expect([refused.exit, refused.err]).toEqual([10, expect.stringContaining("made by pi and came with the import")]);
  const { exit, out } = await here.run(["compact", "pi-1", "--undo", "--yes"]);
  expect([exit, out]).toEqual([0, expect.stringContaining("cccc3333 (made by pi, from the import)")]);
  expect((await here.run(["undo", "pi-1"])).out).toContain("dddd4444");
});
