import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startOf } from "../../src/terminal/run-program.js";

/** A folder with programs, as the PATH of Windows. */
function windows(...programs: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), "bough-windows-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "bin"));
  for (const name of programs) {
    writeFileSync(join(folder, "bin", name), "");
    chmodSync(join(folder, "bin", name), 0o755);
  }
  return {
    folder: join(folder, "bin"),
    env: { SystemRoot: "C:\\Windows", ComSpec: "C:\\cmd.exe", PATHEXT: ".EXE;.CMD", PATH: join(folder, "bin") },
  };
}

test("a program is started as it is, on Windows too", () => {
  expect(startOf({ env: { PATH: "/bin" } }, "upload.cmd", ["a b"])).toEqual({ command: "upload.cmd", args: ["a b"] });
  expect(startOf({ env: windows("gh.EXE").env }, "gh", ["a b"])).toEqual({ command: "gh", args: ["a b"] });
});

test("a batch file of Windows is started by cmd.exe, in a line in which nothing has a meaning for it", () => {
  const { env, folder } = windows("upload.CMD");
  const start = startOf({ env }, "upload", ["C:\\a b\\", 'say "x" & %PATH%', ""]);
  expect(start).toMatchObject({ command: "C:\\cmd.exe", windowsVerbatimArguments: true });
  expect(start.args.slice(0, 3)).toEqual(["/d", "/s", "/c"]);
  const line = start.args[3] ?? "";
  expect(line.startsWith(`"${join(folder, "upload.CMD")} `)).toBe(true);
  // What cmd.exe reads: once for the line, and once more where the batch file passes its arguments on.
  const read = (text: string) => text.replace(/\^(.)/g, "$1");
  expect(line).not.toMatch(/(^|[^^])[&%<>|]/);
  expect(read(read(line.slice(`"${join(folder, "upload.CMD")} `.length, -1)))).toBe('"C:\\a b\\\\" "say \\"x\\" & %PATH%" ""');
});
