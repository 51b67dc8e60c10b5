import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { basename, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Checkpoint, formatCheckpoint } from "../../src/checkpoints/checkpoint.js";
import { readCheckpoints, syncCheckpoints, writeCheckpoint } from "../../src/checkpoints/stored-checkpoints.js";
import { listCheckpoints } from "../../src/recall/list-checkpoints.js";
import { createCompactor } from "../../src/run/compactor.js";
import { folder, grown, listening, model, plant, turns } from "../world/session.js";

function checkpoint(entryId: string, about: Partial<Checkpoint> = {}): Checkpoint {
  return {
    number: 0,
    sessionId: "s1",
    entryId,
    title: "Mending the parser",
    createdAtMs: Date.UTC(2026, 0, 5, 12),
    trigger: "manual",
    tokensBefore: 9_000,
    tokensAfter: 900,
    covers: { fromEntryId: "u1", toEntryId: "a4", entries: 16, messages: 16 },
    files: { readFiles: ["src/a.ts"], modifiedFiles: ["src/b.ts"] },
    summary: "## Goal\nMend it.",
    ...about,
  };
}

describe("the folder of a compactor", () => {
  /** Two compactions, and the names of their files. */
  async function compactedTwice() {
    const directory = folder();
    const { session } = await grown(turns(1, 8));
    const settings = { keep: { recentTokens: 100 }, checkpoints: { directory } };
    const compactor = createCompactor({ session, contextWindow: 100_000, settings, summarizer: model().summarizer });
    await compactor.compact();
    await plant(session, turns(9, 14));
    await compactor.compact();
    const files = () => readdirSync(directory).filter((name) => name !== "index.md");
    expect(files()).toHaveLength(2);
    return { session, compactor, directory, files };
  }

  test("loses the file of a compaction that is undone, and the index its line", async () => {
    const { compactor, directory, files } = await compactedTwice();
    const [first = "", second = ""] = files();
    await compactor.undoCompaction();
    expect(files()).toEqual([first]);
    expect(readFileSync(join(directory, "index.md"), "utf8")).not.toContain(second);
    await compactor.undoCompaction();
    expect(files()).toEqual([]);
  });

  test("follows a navigation: checkpoints below the leaf are removed, and written again when the leaf returns", async () => {
    const { session, compactor, files } = await compactedTwice();
    const leafId = session.leafId;
    await compactor.navigate("a9");
    expect(files()).toHaveLength(1);
    await compactor.navigate("a2");
    expect(files()).toEqual([]);
    await compactor.navigate(leafId);
    expect(files()).toHaveLength(2);
  });

  test("that cannot be written stops neither an undo nor a navigation, and is reported", async () => {
    const { session } = await grown(turns(1, 8));
    const blocked = join(folder(), "a-file");
    writeFileSync(blocked, "");
    const heard = listening();
    const settings = { keep: { recentTokens: 100 }, checkpoints: { directory: join(blocked, "below") } };
    const compactor = createCompactor({
      session,
      contextWindow: 100_000,
      settings,
      summarizer: model().summarizer,
      onEvent: heard.onEvent,
    });
    await compactor.compact();
    expect(await compactor.undoCompaction()).toMatchObject({ kind: "undone" });
    expect(await compactor.navigate("a2")).toMatchObject({ kind: "moved" });
    expect(heard.types().match(/checkpointFailed/g)).toHaveLength(3);
  });
});

describe("a checkpoint file", () => {
  test("is numbered, named by its title, listed in the index, and read back as it was", async () => {
    const directory = join(folder(), "checkpoints");
    const { number, path } = await writeCheckpoint(directory, checkpoint("c1"));
    expect([number, path]).toEqual([1, join(directory, "001-mending-the-parser.md")]);
    expect(readFileSync(join(directory, "index.md"), "utf8")).toContain("001-mending-the-parser.md");
    const { checkpoints, foreign } = await readCheckpoints(directory);
    expect(checkpoints).toMatchObject([{ ...checkpoint("c1"), number: 1 }]);
    expect(foreign).toEqual([]);
  });

  test("is written once for each compaction", async () => {
    const directory = folder();
    await writeCheckpoint(directory, checkpoint("c1"));
    await writeCheckpoint(directory, checkpoint("c1"));
    await writeCheckpoint(directory, checkpoint("c2"));
    expect(readdirSync(directory).sort()).toEqual(["001-mending-the-parser.md", "002-mending-the-parser.md", "index.md"]);
  });

  test.each(["../../etc/passwd", "a/b\\c", "", "CON", "x".repeat(500), "line\nbreak", "| pipe | table |", "<script>alert(1)</script>"])(
    "of the title %j stays in its folder, and its index a table",
    async (title) => {
      const directory = folder();
      const { path } = await writeCheckpoint(directory, checkpoint("c1", { title }));
      expect(path.startsWith(`${directory}/001`)).toBe(true);
      expect(readdirSync(directory)).toHaveLength(2);
      const index = readFileSync(join(directory, "index.md"), "utf8");
      expect(index).not.toContain("<script>");
      expect(
        index
          .trim()
          .split("\n")
          .filter((line) => line.startsWith("| ")).length,
      ).toBe(3);
    },
  );

  /** The names of the files that are read from now on, in order. */
  function filesRead(): string[] {
    const names: string[] = [];
    const { readFile } = fs;
    const counting = (path: string, encoding: "utf8") => {
      names.push(basename(path));
      return readFile(path, encoding);
    };
    Object.assign(fs, { readFile: counting });
    syncBuiltinESMExports();
    onTestFinished(() => {
      Object.assign(fs, { readFile });
      syncBuiltinESMExports();
    });
    return names;
  }

  test("in a large folder reads only its own file and changed ones", async () => {
    const directory = folder();
    for (let at = 1; at <= 9; at += 1) await writeCheckpoint(directory, checkpoint(`c${at}`, { title: `Step ${at}` }));
    const read = filesRead();
    await writeCheckpoint(directory, checkpoint("c10", { title: "Step 10" }));
    expect(read).toEqual(["010-step-10.md"]);
    writeFileSync(join(directory, "004-step-4.md"), formatCheckpoint(checkpoint("c4", { title: "Another title" })));
    await writeCheckpoint(directory, checkpoint("c11", { title: "Step 11" }));
    expect(read.slice(1)).toEqual(["004-step-4.md", "011-step-11.md"]);
    expect(readFileSync(join(directory, "index.md"), "utf8")).toContain("[Another title](004-step-4.md)");
  });

  test("of a summary with anything in it is read back as it was", async () => {
    const directory = folder();
    const summary = "---\nsession: other\n---\n# Heading\n\n```\nopen fence\n";
    await writeCheckpoint(directory, checkpoint("c1", { summary }));
    const [back] = (await readCheckpoints(directory)).checkpoints;
    expect(back?.summary.trim()).toBe(summary.trim());
    expect(back?.sessionId).toBe("s1");
  });

  test("several at once get a number each, and the index names all", async () => {
    const directory = folder();
    const written = await Promise.all(Array.from({ length: 8 }, (_one, at) => writeCheckpoint(directory, checkpoint(`c${at}`))));
    expect(new Set(written.map(({ path }) => path)).size).toBe(8);
    const index = readFileSync(join(directory, "index.md"), "utf8");
    for (const { number } of written) expect(index).toContain(String(number).padStart(3, "0"));
  });

  test("of another program, or a damaged one, is listed and not changed", async () => {
    const directory = folder();
    writeFileSync(join(directory, "notes.txt"), "mine");
    writeFileSync(join(directory, "004-broken.md"), "no front part");
    const { number } = await writeCheckpoint(directory, checkpoint("c1"));
    expect(number).toBe(5);
    expect((await readCheckpoints(directory)).foreign.map(({ name }) => name).sort()).toEqual(["004-broken.md", "notes.txt"]);
    expect(readFileSync(join(directory, "notes.txt"), "utf8")).toBe("mine");
  });
});

describe("a folder of checkpoints", () => {
  test("follows the leaf back: what lies beyond is removed, other sessions' and foreign files stay", async () => {
    const directory = folder();
    for (const id of ["c1", "c2"]) await writeCheckpoint(directory, checkpoint(id));
    await writeCheckpoint(directory, checkpoint("x1", { sessionId: "s2" }));
    writeFileSync(join(directory, "notes.txt"), "mine");
    await syncCheckpoints(directory, "s1", [checkpoint("c1")]);
    const { checkpoints } = await readCheckpoints(directory);
    expect(checkpoints.map(({ entryId }) => entryId)).toEqual(["c1", "x1"]);
    expect(readdirSync(directory)).toContain("notes.txt");
    await syncCheckpoints(directory, "s1", [checkpoint("c1"), checkpoint("c3")]);
    expect((await readCheckpoints(directory)).checkpoints.map(({ entryId }) => entryId)).toEqual(["c1", "x1", "c3"]);
  });
});

describe("a compactor with a directory", () => {
  test("writes a file for each compaction, and the session lists the same", async () => {
    const directory = folder();
    const { session } = await grown(turns(1, 10));
    const settings = { keep: { recentTokens: 400 }, checkpoints: { directory } } as const;
    const compactor = createCompactor({ session, contextWindow: 100_000, settings, summarizer: model().summarizer });
    const first = await compactor.compact();
    await plant(session, turns(11, 20));
    await compactor.compact();
    if (first.kind !== "compacted") throw new TypeError(first.kind);
    const stored = (await readCheckpoints(directory)).checkpoints;
    const listed = await listCheckpoints(session);
    expect(stored.map(({ entryId }) => entryId)).toEqual(listed.map(({ entryId }) => entryId));
    expect(first.checkpointPath).toBe(join(directory, stored[0]?.name ?? ""));
    expect(listed[0]).toMatchObject({ number: 1, entryId: first.entryId, trigger: "manual", covers: { fromEntryId: "u1" } });
  });

  test("that cannot write the file still compacts, and reports it", async () => {
    const directory = join(folder(), "taken");
    writeFileSync(directory, "a file of this name exists");
    const { session } = await grown(turns(1, 10));
    const heard = listening();
    const settings = { keep: { recentTokens: 400 }, checkpoints: { directory } } as const;
    const compactor = createCompactor({
      session,
      contextWindow: 100_000,
      settings,
      summarizer: model().summarizer,
      onEvent: heard.onEvent,
    });
    expect(await compactor.compact()).toMatchObject({ kind: "compacted", checkpointPath: null });
    expect(heard.types()).toContain("checkpointFailed");
    mkdirSync(`${directory}-other`);
  });
});

describe("the checkpoints of a session", () => {
  test("are those of the leaf's path, without what was undone", async () => {
    const { session } = await grown(turns(1, 10));
    const compactor = createCompactor({
      session,
      contextWindow: 100_000,
      settings: { keep: { recentTokens: 400 } },
      summarizer: model().summarizer,
    });
    await compactor.compact();
    expect(await listCheckpoints(session)).toHaveLength(1);
    expect(await listCheckpoints(session, "a3")).toEqual([]);
    await compactor.undoCompaction();
    expect(await listCheckpoints(session)).toEqual([]);
  });

  test("of another program have a range too", async () => {
    const { session } = await grown(turns(1, 3));
    await session.append({ type: "compaction", summary: "of pi", firstKeptEntryId: "u3", id: "c1" });
    await plant(session, turns(4, 5));
    await session.append({ type: "compaction", summary: "of pi again", firstKeptEntryId: null, id: "c2" });
    const [first, second] = await listCheckpoints(session);
    expect(first).toMatchObject({ title: "of pi", covers: { fromEntryId: "u1", toEntryId: "a2", entries: 8, messages: 8 } });
    expect(second).toMatchObject({ covers: { fromEntryId: "u3", toEntryId: "a5", entries: 13, messages: 12 } });
  });
});
