import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { parserSession, world } from "../world.js";
import { longSession } from "./long-session.js";

// Of resume and of the service of sync: resume.test.ts and sync-service.test.ts.

test.each<[string, (folder: string) => readonly string[], RegExp]>([
  ["export -o", (folder) => ["export", "parser", "-o", `${folder}/parser.md`], /would write .* to .*parser\.md/],
  ["export --html", (folder) => ["export", "parser", "--html", `${folder}/parser.html`], /would write .* kB to .*parser\.html/],
  [
    "export --assets",
    (folder) => ["export", "parser", "-o", `${folder}/a.md`, "--assets", `${folder}/images`],
    /would write 0 images in .*images/,
  ],
  ["backup", (folder) => ["backup", `${folder}/copy.db`], /would copy .* to .*copy\.db/],
  ["mcp --install", () => ["mcp", "--install", "cursor", "--yes"], /Nothing was written\./],
])("bough %s --dry-run says what it would write, and writes nothing", async (_name, command, said) => {
  const here = world();
  await parserSession(here);
  const before = readdirSync(here.folder, { recursive: true });
  const { exit, out, err } = await here.run([...command(here.folder), "--dry-run"]);
  expect([exit, out + err]).toEqual([0, expect.stringMatching(said)]);
  expect(readdirSync(here.folder, { recursive: true })).toEqual(before);
});

test("bough checkpoints --write --dry-run counts the files, and writes none", async () => {
  const here = world();
  await longSession(here);
  expect((await here.run(["compact", "long", "--keep", "400"])).exit).toBe(0);
  expect((await here.run(["checkpoints", "long", "--write", "notes", "--dry-run"])).out).toMatch(/^would write 1 checkpoint to .*notes\n$/);
  const files = [{ number: 1, entryId: expect.any(String), path: null }];
  expect(await here.json("checkpoints", "long", "--write", "notes", "--dry-run")).toMatchObject({ directory: here.path("notes"), files });
  expect(readdirSync(here.folder)).not.toContain("notes");
});

test("bough restore --dry-run names what it would replace, and asks nothing", async () => {
  const here = world();
  await parserSession(here);
  await here.run(["backup", here.path("copy.db")]);
  await here.withStore((store) => store.createSession({ title: "later" }));
  const { exit, out, asked } = await here.run(["restore", here.path("copy.db"), "--dry-run"], { answer: "y" });
  expect([exit, asked, out]).toEqual([0, [], expect.stringMatching(/^would replace .*sessions\.db by .*copy\.db, 1 session/)]);
  expect(await here.json("restore", here.path("copy.db"), "--dry-run")).toEqual({ path: here.store, keptAt: null });
  expect(await here.withStore(async (store) => (await store.statistics()).sessions)).toBe(2);
});

test("a backup that would replace a file is not told of an option that it does not have", async () => {
  const here = world();
  await parserSession(here);
  await here.run(["backup", here.path("copy.db")]);
  const { err } = await here.run(["backup", here.path("copy.db")]);
  expect(err).toContain("Name another file; `bough export --force` replaces one.");
});

test("--dry-run fails as the command would for a file that exists, and for a folder that does not", async () => {
  const here = world();
  await parserSession(here);
  await here.run(["export", "parser", "-o", here.path("parser.md")]);
  expect(await here.run(["export", "parser", "-o", here.path("parser.md"), "--dry-run"])).toMatchObject({ exit: 5, code: "TARGET_EXISTS" });
  expect(await here.run(["export", "parser", "-o", here.path("none/parser.md"), "--dry-run"])).toMatchObject({
    exit: 9,
    code: "OUTPUT_FAILED",
  });
});

test.each([["export", "parser"], ["mcp"], ["checkpoints", "parser"]])("refuses --dry-run where %s writes nothing", async (...command) => {
  const here = world();
  await parserSession(here);
  expect(await here.run([...command, "--dry-run"])).toMatchObject({ exit: 2, err: expect.stringContaining("--dry-run needs") });
});
