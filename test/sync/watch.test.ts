import { existsSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { claudeLines, claudeNext, claudeReply, piLines, piMessage, syncedHome } from "./synced-home.js";

const CLAUDE = "11111111-2222-4333-8444-555555555550";

describe("bough sync --watch", () => {
  test("imports what was there, what is added, and what grows, a line only when it is whole", async () => {
    const here = syncedHome();
    const path = here.write(here.pi("p/one.jsonl"), piLines("one", "first"));
    const watching = await here.watch();
    await watching.imported("one", 1);
    const next = piMessage(1, "second");
    here.append(path, next.slice(0, 20));
    here.write(here.pi("q/two.jsonl"), piLines("two", "elsewhere"));
    await watching.imported("two", 1);
    expect(watching.countOf("one")).toBe(1);
    here.append(path, next.slice(20));
    await watching.imported("one", 2);
    expect(await here.texts("one")).toEqual(["first", "second"]);
  });

  test("notices the folder of an agent that was not there", async () => {
    const here = syncedHome();
    const watching = await here.watch();
    here.write(join(here.folder, ".claude", "projects", "-home-ada", `${CLAUDE}.jsonl`), claudeLines(CLAUDE, "hello"));
    await watching.imported(CLAUDE, 1);
    here.write(here.pi("p/one.jsonl"), piLines("one", "first"));
    await watching.imported("one", 1);
  });

  test("goes on after a file was rotated, cut or removed, and deletes nothing", async () => {
    const here = syncedHome();
    const path = here.write(here.pi("p/one.jsonl"), piLines("one", "first", "second"));
    const watching = await here.watch();
    renameSync(path, `${path}.1`);
    here.write(path, piLines("rotated", "after the rotation"));
    await watching.imported("rotated", 1);
    here.append(path, piMessage(1, "and on"));
    await watching.imported("rotated", 2);
    truncateSync(path, 0);
    here.write(here.pi("p/mark.jsonl"), piLines("mark", "a"));
    await watching.imported("mark", 1);
    here.append(path, piLines("third", "after the cut"));
    await watching.imported("third", 1);
    rmSync(path);
    rmSync(`${path}.1`);
    here.append(here.pi("p/mark.jsonl"), piMessage(1, "b"));
    await watching.imported("mark", 2);
    expect(await here.texts("one")).toEqual(["first", "second"]);
    expect(await here.texts("rotated")).toEqual(["after the rotation", "and on"]);
    expect(await here.violations()).toEqual([]);
  });

  test("watches a folder again that was removed and is back, at any depth", async () => {
    const here = syncedHome();
    const path = here.write(here.pi("p/one.jsonl"), piLines("one", "first"));
    const watching = await here.watch();
    for (const [at, gone] of [dirname(path), dirname(dirname(path)), join(here.folder, ".pi")].entries()) {
      rmSync(gone, { recursive: true });
      here.write(path, piLines(`again-${at}`, "back"));
      await watching.imported(`again-${at}`, 1);
      here.append(path, piMessage(1, "and grown"));
      await watching.imported(`again-${at}`, 2);
    }
    expect(await here.texts("one")).toEqual(["first"]);
  });

  test.each(["SIGTERM", "SIGINT"] as const)("ends with 0 at %s, and leaves a store without a journal", async (signal) => {
    const here = syncedHome();
    here.write(here.pi("p/one.jsonl"), piLines("one", "first"));
    const watching = await here.watch();
    watching.kill(signal);
    expect(await watching.ended).toEqual({ exit: 0, signal: null });
    expect(existsSync(`${here.store}-wal`)).toBe(false);
    expect(await here.violations()).toEqual([]);
  });

  test("tells a file that cannot be imported once, and imports it when it can be", async () => {
    const here = syncedHome();
    const watching = await here.watch();
    const path = here.write(here.pi("p/new.jsonl"), piLines("new", "from later").replace('"version":3', '"version":99'));
    await watching.until((said) => said.includes("UNKNOWN_FORMAT_VERSION"));
    writeFileSync(path, piLines("new", "from now"));
    await watching.imported("new", 1);
    expect(watching.lines.filter((said) => said.includes("UNKNOWN_FORMAT_VERSION"))).toHaveLength(1);
  });

  test("prints a line for each change for people", async () => {
    const here = syncedHome();
    const watching = here.start("sync", "--watch");
    await watching.until((said) => said.startsWith("Watching"));
    const path = here.write(here.pi("p/one.jsonl"), piLines("one", "Mend the \u001b[31mparser", "please"));
    expect(await watching.until((said) => said.includes("parser"))).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d {2}pi {2}new, 2 entries {2}Mend the [^\u001b]*parser$/,
    );
    here.append(path, piMessage(2, "now"));
    await watching.until((said) => /pi {2}\+1 entry/.test(said));
  });

  test("says once that a reply is being written, and imports it when it is complete", async () => {
    const here = syncedHome();
    const watching = here.start("sync", "--watch");
    await watching.until((said) => said.startsWith("Watching"));
    const path = join(here.folder, ".claude", "projects", "-home-ada", `${CLAUDE}.jsonl`);
    here.write(path, claudeLines(CLAUDE, "hello") + claudeReply(CLAUDE, "Hello, "));
    expect(await watching.until((said) => said.includes("being written"))).toMatch(/Claude Code {2}new, 1 entry {2}being written {2}hello/);
    here.append(path, claudeNext(CLAUDE, "More"));
    expect(await watching.until((said) => said.includes("+2 entries"))).not.toContain("being written");
    expect(watching.lines.filter((said) => said.includes("being written"))).toHaveLength(1);
    expect(await here.texts(CLAUDE)).toEqual(["hello", "Hello, ", "More"]);
  });

  test("tells a program until when a reply that is being written is waited for", async () => {
    const here = syncedHome();
    const watching = await here.watch();
    const path = join(here.folder, ".claude", "projects", "-home-ada", `${CLAUDE}.jsonl`);
    here.write(path, claudeLines(CLAUDE, "hello") + claudeReply(CLAUDE, "Hello."));
    await watching.until((said) => /"entriesAdded":1,"heldUntilMs":\d{13},/.test(said));
    here.append(path, claudeNext(CLAUDE, "More"));
    await watching.until((said) => /"heldUntilMs":null,/.test(said));
    expect(await here.texts(CLAUDE)).toEqual(["hello", "Hello.", "More"]);
  });
});
