import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { cleanText } from "@bough/session-core/view";
import { build } from "esbuild";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Checkpoint, formatCheckpoint, makeFileName, parseCheckpoint, parseFileNumber } from "../../src/checkpoints/checkpoint.js";
import { readCheckpoints, syncCheckpoints, writeCheckpoint } from "../../src/checkpoints/stored-checkpoints.js";
import { CheckpointError } from "../../src/errors/compaction-errors.js";
import { listCheckpoints } from "../../src/recall/list-checkpoints.js";
import { folder, grown, plant } from "../world/session.js";

const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));

function checkpoint(entryId: string, about: Partial<Checkpoint> = {}): Checkpoint {
  return {
    number: 1,
    sessionId: "s1",
    entryId,
    title: "Mending the parser",
    createdAtMs: Date.UTC(2026, 0, 5, 12),
    trigger: null,
    tokensBefore: null,
    tokensAfter: null,
    covers: null,
    files: { readFiles: [], modifiedFiles: [] },
    summary: "## Goal\nMend it.",
    ...about,
  };
}

/** Ids of the checkpoints in a folder, by number. */
async function idsIn(directory: string): Promise<readonly string[]> {
  return (await readCheckpoints(directory)).checkpoints.map(({ entryId }) => entryId);
}

describe("the name of a checkpoint's file", () => {
  test.each([
    [3, "Mending the Parser!", "003-mending-the-parser.md"],
    [12, "Café & Überblick", "012-cafe-uberblick.md"],
    [1000, "α β", "1000-checkpoint.md"],
    [1, "", "001-checkpoint.md"],
    [1, "../../x", "001-x.md"],
  ])("of number %i with the title %j is %s", (number, title, name) => {
    expect(makeFileName(number, title)).toBe(name);
  });

  test("is valid on every file system for any title, and contains its number", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 999_999_999 }), fc.string({ unit: "binary", maxLength: 300 }), (number, title) => {
        const name = makeFileName(number, title);
        expect(name).toMatch(/^\d{3,9}-[a-z0-9]+(?:-[a-z0-9]+)*\.md$/);
        expect(name.length).toBeLessThanOrEqual(80);
        expect(parseFileNumber(name)).toBe(number);
      }),
    );
  });
});

describe("the text of a checkpoint's file", () => {
  const texts = fc.string({ unit: "binary", maxLength: 200 });
  const hostile = fc.oneof(
    texts,
    fc.constantFrom("---", "a\n---\nbough: other", "\u2028---\u2028", "\r\n---\r\n", '"', "# x", "\u0085", "x: {"),
  );

  test("is read back unchanged for any content", () => {
    fc.assert(
      fc.property(hostile, hostile, hostile, fc.array(hostile, { maxLength: 3 }), (title, summary, trigger, files) => {
        const given = checkpoint("c1", { title, summary, trigger, files: { readFiles: files, modifiedFiles: [] } });
        const back = parseCheckpoint(formatCheckpoint(given), 1);
        const same = { sessionId: "s1", entryId: "c1", createdAtMs: given.createdAtMs, trigger, files: given.files };
        expect(back).toMatchObject({ ...same, summary: cleanText(summary).trim() });
      }),
    );
  });

  test("has a front part that ends where it should: each value on its line", () => {
    const text = formatCheckpoint(checkpoint("c1", { trigger: "a\n---\nsession: x\u2028y\u0085z" }));
    const front = text.split("---\n")[1] ?? "";
    expect(front.split(/[\n\u2028\u2029\u0085]/).filter((line) => line !== "").length).toBe(11);
  });

  test("is read with the line ends of another system too", () => {
    const given = checkpoint("c1", { summary: "one line" });
    expect(parseCheckpoint(formatCheckpoint(given).replaceAll("\n", "\r\n"), 1)).toEqual(given);
  });

  test.each([
    ["", "it has no front matter"],
    ["# Notes\n---\nx: 1\n---\n", "it has no front matter"],
    ['---\nbough: "checkpoint-9"\n---\n', /^its front matter is not valid \(bough/],
    ['---\nbough: "checkpoint-1"\nsession: nothing JSON\n---\n', /^its front matter is not valid \(session/],
  ])("that is none of ours is told apart: %j", (text, expected) => {
    expect(parseCheckpoint(text, 1)).toEqual(typeof expected === "string" ? expected : expect.stringMatching(expected));
  });

  test("keeps a time that no calendar has from breaking it", () => {
    const text = formatCheckpoint(checkpoint("c1", { createdAtMs: Number.MAX_SAFE_INTEGER }));
    expect(parseCheckpoint(text, 1)).toMatchObject({ createdAtMs: 0 });
  });
});

describe("several processes that write at once", () => {
  /** A program that writes checkpoints `PREFIX0`, `PREFIX1`… of one session, with the current source of this package. */
  async function program(): Promise<string> {
    const contents = `
      import { writeCheckpoint } from "./src/checkpoints/stored-checkpoints.ts";
      const [directory, prefix, count] = process.argv.slice(2);
      const about = { number: 1, sessionId: "s1", createdAtMs: 0, trigger: null, tokensBefore: null, tokensAfter: null, covers: null };
      for (let at = 0; at < Number(count); at += 1) {
        const files = { readFiles: [], modifiedFiles: [] };
        const { path } = await writeCheckpoint(directory, { ...about, entryId: prefix + at, title: prefix + " " + at, files, summary: prefix });
        console.log(path);
      }`;
    const stdin = { contents, resolveDir: PACKAGE, loader: "ts" } as const;
    const built = await build({
      stdin,
      bundle: true,
      write: false,
      format: "esm",
      platform: "node",
      packages: "external",
      logLevel: "silent",
    });
    return built.outputFiles[0]?.text ?? "";
  }

  test("each get numbers of their own, lose nothing, and leave an index of all", { timeout: 60_000 }, async () => {
    const directory = join(folder(), "new");
    const code = await program();
    const run = (prefix: string) => {
      // Read from standard input, the program finds packages where this one does.
      const child = promisify(execFile)(process.execPath, ["--input-type=module", "-", directory, prefix, "8"], { cwd: PACKAGE });
      child.child.stdin?.end(code);
      return child;
    };
    const outputs = await Promise.all(["a", "b", "c"].map(run));
    const paths = outputs.flatMap(({ stdout }) => stdout.trim().split("\n"));
    expect(new Set(paths).size).toBe(24);
    for (const path of paths) expect(existsSync(path)).toBe(true);
    const { checkpoints, foreign } = await readCheckpoints(directory);
    expect(foreign).toEqual([]);
    expect(new Set(checkpoints.map(({ number }) => number)).size).toBe(24);
    const wanted = ["a", "b", "c"].flatMap((prefix) => Array.from({ length: 8 }, (_one, at) => `${prefix}${at}`));
    expect(checkpoints.map(({ entryId }) => entryId).sort()).toEqual(wanted.sort());
    const index = readFileSync(join(directory, "index.md"), "utf8");
    for (const { name } of checkpoints) expect(index).toContain(`](${name})`);
    expect(readdirSync(directory).filter((name) => name.startsWith("."))).toEqual([]);
  });
});

describe("after a crash", () => {
  test("an incomplete file blocks no other writer, and is not a checkpoint", async () => {
    const directory = folder();
    writeFileSync(join(directory, ".001.tmp"), "---\nbough");
    expect((await writeCheckpoint(directory, checkpoint("c1"))).number).toBe(2);
    expect(await readCheckpoints(directory)).toMatchObject({ checkpoints: [{ number: 2 }], foreign: [] });
  });

  test("a file that was begun long ago is removed, and its number is free again", async () => {
    const directory = folder();
    const anHourAgo = Date.now() / 1_000 - 3_601;
    for (const name of [".001.tmp", `.index.md.${randomUUID()}.tmp`, ".other.tmp"]) {
      writeFileSync(join(directory, name), "---\nbough");
      utimesSync(join(directory, name), anHourAgo, anHourAgo);
    }
    expect((await writeCheckpoint(directory, checkpoint("c1"))).number).toBe(1);
    expect(readdirSync(directory).filter((name) => name.startsWith("."))).toEqual([".other.tmp"]);
  });

  test("the next checkpoint puts an index right that was never written, or is wrong", async () => {
    const directory = folder();
    await writeCheckpoint(directory, checkpoint("c1", { title: "One" }));
    writeFileSync(join(directory, "index.md"), "| half a");
    await writeCheckpoint(directory, checkpoint("c2", { title: "Two" }));
    const index = readFileSync(join(directory, "index.md"), "utf8");
    expect(index).toContain("[One](001-one.md)");
    expect(index).toContain("[Two](002-two.md)");
    expect(index).not.toContain("half a");
  });
});

describe("a folder that cannot be used", () => {
  test("is a file: a typed error, and the file is kept", async () => {
    const taken = join(folder(), "taken");
    writeFileSync(taken, "mine");
    for (const path of [taken, join(taken, "below")]) {
      const error = await writeCheckpoint(path, checkpoint("c1")).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(CheckpointError);
      expect(error).toMatchObject({ code: "CHECKPOINT", path, doing: "write" });
    }
    await expect(readCheckpoints(taken)).rejects.toThrow(`Cannot read checkpoints at ${taken}: a part of the path is a file.`);
    expect(readFileSync(taken, "utf8")).toBe("mine");
  });

  test("is a link in a circle", async () => {
    const path = join(folder(), "circle");
    symlinkSync(path, path);
    await expect(writeCheckpoint(path, checkpoint("c1"))).rejects.toBeInstanceOf(CheckpointError);
  });

  test("is missing: reading finds nothing, and makes nothing", async () => {
    const directory = join(folder(), "missing");
    expect(await readCheckpoints(directory)).toEqual({ checkpoints: [], foreign: [] });
    expect(existsSync(directory)).toBe(false);
  });

  test("has a folder where the index should be: the checkpoint is there all the same", async () => {
    const directory = folder();
    mkdirSync(join(directory, "index.md"));
    await expect(writeCheckpoint(directory, checkpoint("c1"))).rejects.toMatchObject({
      code: "CHECKPOINT",
      path: join(directory, "index.md"),
    });
    expect(await idsIn(directory)).toEqual(["c1"]);
    expect(readdirSync(directory).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });
});

describe("obstacles to a file", () => {
  test("is never written over: a folder, a link, a file of that number", async () => {
    const directory = folder();
    mkdirSync(join(directory, "001-mending-the-parser.md"));
    symlinkSync("/nowhere", join(directory, "002-mending-the-parser.md"));
    writeFileSync(join(directory, "003-other.md"), "mine");
    expect((await writeCheckpoint(directory, checkpoint("c1"))).number).toBe(4);
    const { foreign } = await readCheckpoints(directory);
    expect(foreign.map(({ problem }) => problem)).toEqual([
      "it is not a regular file",
      "it is not a regular file",
      "it has no front matter",
    ]);
    expect(readFileSync(join(directory, "003-other.md"), "utf8")).toBe("mine");
  });

  test("is a file that a person renamed: still known, linked as it is named", async () => {
    const directory = folder();
    const { path } = await writeCheckpoint(directory, checkpoint("c1"));
    writeFileSync(join(directory, "007-my (own) name.md"), readFileSync(path));
    rmSync(path);
    expect(await writeCheckpoint(directory, checkpoint("c1"))).toEqual({ number: 7, path: join(directory, "007-my (own) name.md") });
    expect(readFileSync(join(directory, "index.md"), "utf8")).toContain("](007-my%20%28own%29%20name.md)");
  });
});

describe("a folder that follows a session", () => {
  /** Compacts, as another program would. */
  async function compacted(session: Awaited<ReturnType<typeof grown>>["session"], id: string) {
    await session.append({ type: "compaction", id, summary: `${id} of it`, firstKeptEntryId: null });
  }

  test("holds what its path holds: rewound, grown another way, undone", async () => {
    const directory = folder();
    const { session } = await grown("u1 a1");
    const sync = async () => syncCheckpoints(directory, session.id, await listCheckpoints(session));
    await compacted(session, "c1");
    await plant(session, "u2");
    await compacted(session, "c2");
    await sync();
    expect(await idsIn(directory)).toEqual(["c1", "c2"]);
    await session.moveLeaf("u2");
    await sync();
    expect(await idsIn(directory)).toEqual(["c1"]);
    await compacted(session, "c3");
    expect((await sync()).written.map(({ number }) => number)).toEqual([2]);
    expect(await idsIn(directory)).toEqual(["c1", "c3"]);
    await session.append({ type: "context_edit", targetId: "c1", replacement: null });
    await sync();
    expect(await idsIn(directory)).toEqual(["c3"]);
    await session.moveLeaf(null);
    await sync();
    expect(await idsIn(directory)).toEqual([]);
    expect(readFileSync(join(directory, "index.md"), "utf8")).toContain("None yet.");
  });

  test("of a fork has what the fork shares, and not what came later", async () => {
    const { store, session } = await grown("u1");
    await compacted(session, "c1");
    await plant(session, "u2");
    await compacted(session, "c2");
    const fork = await store.forkSession(session.id, { at: "u2" });
    const directory = folder();
    await syncCheckpoints(directory, fork.id, await listCheckpoints(fork));
    expect((await readCheckpoints(directory)).checkpoints).toMatchObject([{ entryId: "c1", sessionId: fork.id }]);
  });

  test("is left as it is, byte for byte, where it agrees already", async () => {
    const directory = folder();
    const all = [checkpoint("c1"), checkpoint("c2")];
    await syncCheckpoints(directory, "s1", all);
    writeFileSync(join(directory, "001-mending-the-parser.md"), `${formatCheckpoint(checkpoint("c1"))}\nA note of mine.\n`);
    expect(await syncCheckpoints(directory, "s1", all)).toEqual({ written: [], removed: [] });
    expect(readFileSync(join(directory, "001-mending-the-parser.md"), "utf8")).toContain("A note of mine.");
  });

  test("never has checkpoints out of order: from the first that differs they are written anew", async () => {
    const directory = folder();
    await syncCheckpoints(directory, "s1", [checkpoint("c1"), checkpoint("c3")]);
    await syncCheckpoints(directory, "s1", [checkpoint("c1"), checkpoint("c2"), checkpoint("c3")]);
    expect(await idsIn(directory)).toEqual(["c1", "c2", "c3"]);
  });

  test("keeps files that only resemble checkpoints", async () => {
    const directory = folder();
    writeFileSync(join(directory, "001-notes.md"), "---\ntitle: mine\n---\n");
    writeFileSync(join(directory, "002-torn.md"), formatCheckpoint(checkpoint("c9")).slice(0, 60));
    await syncCheckpoints(directory, "s1", []);
    expect(readdirSync(directory)).toEqual(["001-notes.md", "002-torn.md", "index.md"]);
  });
});
