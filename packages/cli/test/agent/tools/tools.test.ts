import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { TOOLS } from "../../../src/agent/request-frame.js";
import { MAX_OUTPUT } from "../../../src/agent/tools/bounded-text.js";
import { resolveTarget } from "../../../src/agent/tools/checked-file.js";
import { replaceOnce } from "../../../src/agent/tools/file-tools.js";
import type { ToolInput, ToolOutcome } from "../../../src/agent/tools/tool.js";

class Desk {
  readonly folder = mkdtempSync(join(tmpdir(), "bough-tools-"));
  readonly stop = new AbortController();

  async run(name: string, input: ToolInput, env: Record<string, string> = {}): Promise<ToolOutcome> {
    const tool = TOOLS.find((one) => one.name === name);
    if (tool === undefined) throw new TypeError(`no tool ${name}`);
    const target = (await resolveTarget(input, this.folder))?.target ?? null;
    return tool.run(input, { cwd: this.folder, env: { PATH: "/usr/local/bin:/usr/bin:/bin", ...env }, signal: this.stop.signal, target });
  }

  file(name: string, text: string | Uint8Array): void {
    writeFileSync(join(this.folder, name), text);
  }

  text(name: string): string {
    return readFileSync(join(this.folder, name), "utf8");
  }
}

function desk(): Desk {
  const made = new Desk();
  onTestFinished(() => rmSync(made.folder, { recursive: true, force: true }));
  return made;
}

describe("read", () => {
  test("gives a file as it is, and parts of it by lines", async () => {
    const at = desk();
    at.file("a", "one\ntwo\nthree\n");
    expect(await at.run("read", { path: "a" })).toEqual({ text: "one\ntwo\nthree", isError: false });
    expect((await at.run("read", { path: "a", offset: 2, limit: 1 })).text).toBe("two\n[lines 2 to 2 of 3; continue with offset 3]");
    expect((await at.run("read", { path: "a", offset: "3" })).text).toBe("three");
  });

  test("gives long files in parts that lead to the last line", async () => {
    const at = desk();
    const lines = Array.from({ length: 9_000 }, (_one, n) => `line ${n + 1}`);
    at.file("a", lines.join("\n"));
    const read: string[] = [];
    for (let offset: number | undefined = 1; offset !== undefined; ) {
      const { text } = await at.run("read", { path: "a", offset });
      expect(text.length).toBeLessThan(MAX_OUTPUT + 100);
      const [part = "", next] = text.split(/\n\[lines .*?(?:continue with offset (\d+))?\]$/);
      read.push(...part.split("\n"));
      offset = next === undefined ? undefined : Number(next);
    }
    expect(read).toEqual(lines);
  });

  test("lists a folder", async () => {
    const at = desk();
    at.file("b.txt", "");
    mkdirSync(join(at.folder, "a"));
    expect((await at.run("read", { path: "." })).text).toBe("a/\nb.txt\n");
  });

  test.each([
    ["nothing there", {}, "ENOENT"],
    ["bytes that are no text", { bytes: new Uint8Array([0xff, 0xfe, 1]) }, "is not UTF-8 text"],
    ["a line that there is not", { bytes: new Uint8Array([65]), offset: 7 }, "there is no line 7"],
  ])("says what is wrong: %s", async (_case, { bytes, offset }: { bytes?: Uint8Array; offset?: number }, says) => {
    const at = desk();
    if (bytes !== undefined) at.file("a", bytes);
    expect(await at.run("read", { path: "a", offset })).toEqual({ text: expect.stringContaining(says), isError: true });
  });

  test("does not wait for a pipe without a writer", async () => {
    const at = desk();
    await at.run("bash", { command: "mkfifo pipe" });
    expect(await at.run("read", { path: "pipe" })).toEqual({ text: "pipe is not a regular file.", isError: true });
  });
});

describe("write", () => {
  test("makes a file with its folders, and replaces one", async () => {
    const at = desk();
    expect((await at.run("write", { path: "x/y/a.txt", content: "é" })).text).toBe("Created x/y/a.txt: 2 bytes.");
    expect((await at.run("write", { path: "x/y/a.txt", content: "" })).text).toBe("Replaced x/y/a.txt: 0 bytes.");
    expect(at.text("x/y/a.txt")).toBe("");
  });

  test("reports what prevents the write", async () => {
    const at = desk();
    at.file("a", "");
    expect((await at.run("write", { path: "a/b", content: "" })).isError).toBe(true);
    expect((await at.run("write", { path: ".", content: "" })).text).toBe(". is not a regular file.");
  });
});

describe("edit", () => {
  test("replaces the one place, with signs that mean something elsewhere", async () => {
    const at = desk();
    at.file("a", "one\ntwo $1\nthree\n");
    expect((await at.run("edit", { path: "a", oldText: "two $1", newText: "$& 2" })).text).toBe("Replaced one occurrence in a, at line 2.");
    expect(at.text("a")).toBe("one\n$& 2\nthree\n");
  });

  test.each([
    ["aXa", "a", "more than once"],
    ["aaa", "aa", "more than once"],
    ["abc", "d", "does not occur in"],
    ["abc", "", "is empty"],
    ["abc", "new", "are equal"],
  ])("refuses what it cannot be sure of: %s, %s", async (text, oldText, says) => {
    const at = desk();
    at.file("a", text);
    expect(await at.run("edit", { path: "a", oldText, newText: "new" })).toEqual({ text: expect.stringContaining(says), isError: true });
    expect(at.text("a")).toBe(text);
  });

  test("keeps the line breaks and the byte order mark of the file", async () => {
    const at = desk();
    at.file("a", "\uFEFFone\r\ntwo\r\n");
    await at.run("edit", { path: "a", oldText: "one\ntwo", newText: "1\n2\n3" });
    expect(at.text("a")).toBe("\uFEFF1\r\n2\r\n3\r\n");
  });

  test.each([
    ["a\r\nfoo\r\nb", "foo", "x\ny", "a\r\nx\r\ny\r\nb"],
    ["a\nfoo\r\nb", "foo", "x\ny", "a\nx\ny\r\nb"],
    ["foo", "foo", "x\r\ny", "x\r\ny"],
  ])("gives new lines the line breaks that all of the file has: %j", (before, oldText, newText, after) => {
    expect(replaceOnce(before, oldText, newText, "a").text).toBe(after);
  });
});

describe("bash", () => {
  test("gives both outputs, and the exit code of what failed", async () => {
    const at = desk();
    expect(await at.run("bash", { command: "echo out; echo err >&2; exit 3" })).toEqual({ text: "out\nerr\n[exit code 3]", isError: true });
    expect(await at.run("bash", { command: "pwd -P | grep -c bough-tools" })).toEqual({ text: "1", isError: false });
    expect(await at.run("bash", { command: "true" })).toEqual({ text: "[no output]", isError: false });
  });

  test("has an empty standard input", async () => {
    expect((await desk().run("bash", { command: "cat; read answer || echo nobody" })).text).toBe("nobody");
  });

  test("is stopped after its time, with all that it started, also what ignores the polite request", async () => {
    const at = desk();
    const command = "trap '' TERM; (trap '' TERM; while :; do sleep 0.1; done; touch late) & echo $! > pid; wait";
    const { text, isError } = await at.run("bash", { command, timeout: 1 });
    expect([text, isError]).toEqual(["[stopped after 1 s]", true]);
    // Its number is of no process any more, or of one that is only waiting to be counted.
    const running = (pid: string) => at.run("bash", { command: `ps -o stat= -p ${pid} | grep -v Z` });
    expect([(await running("$$")).isError, (await running("$(cat pid)")).isError]).toEqual([false, true]);
  });

  test("does not wait for what stays in the background", async () => {
    const at = desk();
    expect((await at.run("bash", { command: "sleep 30 & echo started; echo $! > pid" })).text).toBe("started");
    await at.run("bash", { command: "kill $(cat pid)" });
  });

  test("runs nothing once it was stopped", async () => {
    const at = desk();
    at.stop.abort();
    expect(await at.run("bash", { command: "touch made" })).toEqual({ text: "[stopped by the user]", isError: true });
    expect(existsSync(join(at.folder, "made"))).toBe(false);
  });

  test("keeps the beginning and the end of what is long", async () => {
    const { text } = await desk().run("bash", { command: "echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last" });
    expect(text.length).toBeLessThan(MAX_OUTPUT + 100);
    expect(text).toMatch(/^first\nx+\n\[29\d+ characters omitted\]\nx+\nlast$/);
  });
});

describe("a path outside of the folder", () => {
  const isOutside = async (at: Desk, path: string) => (await resolveTarget({ path }, at.folder))?.isOutside;

  test("is detected by its path and through links, also if the file does not exist yet", async () => {
    const at = desk();
    symlinkSync(tmpdir(), join(at.folder, "link"));
    const outside = (path: string) => isOutside(at, path);
    expect(await Promise.all(["a", "./x/../y", "..a", "new/folder/a", at.folder].map(outside))).toEqual([
      false,
      false,
      false,
      false,
      false,
    ]);
    expect(await Promise.all(["..", "../x", "/etc", "link/new", "x/../../y"].map(outside))).toEqual([true, true, true, true, true]);
  });

  test.each([
    ["a link to a file that is not there", "../missing.txt", "link", true],
    ["a link to a folder that is not there", "../missing", "link/new.txt", true],
    ["a link that leads out by way of a folder that is not there", "missing/../../out.txt", "link", true],
    ["links in a circle", "link", "link", true],
    ["a link within the folder to a file that is not there", "missing.txt", "link", false],
  ])("is known behind %s", async (_case, leadsTo, path, expected) => {
    const at = desk();
    symlinkSync(leadsTo, join(at.folder, "link"));
    expect(await isOutside(at, path)).toBe(expected);
  });

  test("is known behind links that lead to links", async () => {
    const at = desk();
    symlinkSync("second", join(at.folder, "first"));
    symlinkSync("../missing", join(at.folder, "second"));
    expect((await resolveTarget({ path: "first/a" }, at.folder))?.target).toBe(join(at.folder, "..", "missing", "a"));
  });
});

describe("the definitions", () => {
  test("name only arguments that they describe", () => {
    for (const { inputSchema } of TOOLS)
      expect(Object.keys(inputSchema["properties"] ?? {})).toEqual(expect.arrayContaining([inputSchema["required"]].flat()));
    expect(TOOLS.map(({ name }) => name)).toEqual(["read", "write", "edit", "bash"]);
  });
});
