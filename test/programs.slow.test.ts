import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

function run(program: string, ...options: readonly string[]) {
  const file = fileURLToPath(new URL(`${program}/main.mjs`, import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...options], { encoding: "utf8" });
  return { status, stdout, stderr };
}

describe.each([
  ["attack", "--minutes"],
  ["bench", "--quick"],
  ["eval", "--summaries"],
  ["mutants", "--sample"],
  ["real", "--document"],
])("the program test/%s", (program, option) => {
  test("prints its options for --help", () => {
    expect(run(program, "--help")).toEqual({ status: 0, stdout: expect.stringContaining(option), stderr: "" });
  });

  test("says in one line what it does not take", () => {
    expect(run(program, "--frobnicate")).toEqual({
      status: 2,
      stdout: "",
      stderr: expect.stringMatching(/^Unknown option '--frobnicate'.*\n$/),
    });
  });
});

test.each(["attack", "bench", "mutants", "real"])("test/%s names its groups in one line if it has none of that name", (program) => {
  expect(run(program, "--only", "frobnicate")).toEqual({
    status: 2,
    stdout: "",
    stderr: expect.stringMatching(/^--only takes names of: .*\n$/),
  });
});
