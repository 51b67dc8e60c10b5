import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { goOn, longSession } from "../../commands/long-session.js";
import { type World, world } from "../../world.js";

interface Listed {
  readonly number: number | null;
  readonly kind: string;
  readonly entryId: string;
  readonly title: string;
  readonly messages: number;
  readonly onPath: boolean;
}

async function withLongSession(): Promise<World> {
  const here = world();
  await longSession(here);
  return here;
}

async function compacted(here: World, keep: number): Promise<string> {
  return ((await here.json("compact", "long", "--keep", String(keep))) as { readonly entryId: string }).entryId;
}

async function listed(here: World, ...options: readonly string[]): Promise<readonly Listed[]> {
  return ((await here.json("checkpoints", "long", ...options)) as { readonly checkpoints: readonly Listed[] }).checkpoints;
}

describe("bough checkpoints", () => {
  test("explains how to create one if there is none", async () => {
    const here = await withLongSession();
    expect(await here.run(["checkpoints", "long"])).toMatchObject({
      exit: 0,
      out: "No checkpoints yet. A compaction creates one: bough compact long-session\n",
    });
    expect(await listed(here)).toEqual([]);
  });

  test("numbers the compactions on the path, the oldest first", async () => {
    const here = await withLongSession();
    const first = await compacted(here, 400);
    await goOn(here);
    const second = await compacted(here, 400);
    expect((await listed(here)).map(({ number, entryId }) => [number, entryId])).toEqual([
      [1, first],
      [2, second],
    ]);
    const { out } = await here.run(["checkpoints", "long"]);
    expect(out).toMatch(/^no\. +created +title +trigger +tokens +messages +files +entry/);
    expect(out).toMatch(/^ *1 .* manual .* → /m);
    expect(out).toContain("2 summaries. To print one: bough checkpoints long-session NUMBER");
  });

  test("lists summaries of branches without a number, and those of other branches with --all", async () => {
    const here = await withLongSession();
    const compaction = await compacted(here, 400);
    const { summaryEntryId } = (await here.json("go", "long", "a5", "--summarize")) as { readonly summaryEntryId: string };
    expect(await listed(here)).toMatchObject([{ number: null, kind: "branch summary", entryId: summaryEntryId, onPath: true }]);
    expect(await listed(here, "--all")).toMatchObject([
      { number: null, kind: "compaction", entryId: compaction, onPath: false },
      { number: null, kind: "branch summary", entryId: summaryEntryId, onPath: true },
    ]);
  });

  test("marks a compaction that was undone", async () => {
    const here = await withLongSession();
    await compacted(here, 400);
    await here.run(["compact", "long", "--undo"]);
    expect((await here.run(["checkpoints", "long"])).out).toMatch(/ undone /);
  });

  test("prints one in full by its number or its entry", async () => {
    const here = await withLongSession();
    const entryId = await compacted(here, 400);
    const { out } = await here.run(["checkpoints", "long", "1"]);
    expect(out).toContain(`no. 1, entry ${entryId}`);
    expect(out).toMatch(/^summarizes: \d+ messages$/m);
    expect(out).toContain("  read src/part-1.ts\n");
    expect(out).toMatch(/^entries: \d+, u1 to /m);
    expect((await here.run(["checkpoints", "long", entryId])).out).toBe(out);
    expect(await here.json("checkpoints", "long", "1")).toMatchObject({
      checkpoint: { number: 1, entryId, entry: { type: "compaction" } },
    });
  });

  test.each([
    ["7", "CHECKPOINT_NOT_FOUND"],
    ["nothing", "ENTRY_NOT_FOUND"],
    ["u1", "USAGE"],
  ])("says of %s with %s that it is none", async (which, code) => {
    const here = await withLongSession();
    await compacted(here, 400);
    expect(await here.run(["checkpoints", "long", which])).toMatchObject({ code, out: "" });
  });
});

test("bough checkpoints prints a table that fits 44 columns", async () => {
  const here = await withLongSession();
  await compacted(here, 400);
  const [heading = "", row = ""] = (await here.run(["checkpoints", "long"], { columns: 44 })).out.split("\n");
  expect(Math.max(heading.length, row.length)).toBeLessThanOrEqual(44);
});

describe("bough checkpoints --write", () => {
  test("writes numbered files and an index; again adds only what is new", async () => {
    const here = await withLongSession();
    await compacted(here, 400);
    await here.run(["checkpoints", "long", "--write", "notes"]);
    const first = readdirSync(here.path("notes"));
    expect(first).toEqual([expect.stringMatching(/^001-.*\.md$/), "index.md"]);
    await goOn(here);
    const entryId = await compacted(here, 400);
    const { out } = await here.run(["checkpoints", "long", "--write", "notes"]);
    const second = readdirSync(here.path("notes"));
    expect(second).toEqual([first[0], expect.stringMatching(/^002-.*\.md$/), "index.md"]);
    expect(out).toContain("2 checkpoints; index.md lists them");
    expect(readFileSync(here.path(`notes/${second[1]}`), "utf8")).toContain(entryId);
  });

  test("creates no folder if there is nothing to write", async () => {
    const here = await withLongSession();
    expect((await here.run(["checkpoints", "long", "--write", "notes"])).out).toContain("No checkpoints yet.");
    expect(readdirSync(here.folder)).not.toContain("notes");
  });

  test("fails if a file of this name exists", async () => {
    const here = await withLongSession();
    await compacted(here, 400);
    writeFileSync(here.path("notes"), "mine");
    expect(await here.run(["checkpoints", "long", "--write", "notes"])).toMatchObject({ exit: 9, code: "CHECKPOINT", out: "" });
    expect(readFileSync(here.path("notes"), "utf8")).toBe("mine");
  });

  test("accepts neither a number nor --all", async () => {
    const here = await withLongSession();
    expect((await here.run(["checkpoints", "long", "1", "--write", "notes"])).exit).toBe(2);
    expect((await here.run(["checkpoints", "long", "--all", "--write", "notes"])).exit).toBe(2);
  });
});
