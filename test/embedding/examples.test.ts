import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const names = readdirSync(join(root, "examples")).filter((name) => existsSync(join(root, "examples", name, "main.ts")));

describe("each example runs without a key and prints its output.txt", () => {
  test.each(names)("%s", (name) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "examples/run.mjs"), name], { encoding: "utf8" });
    expect(stderr).toBe("");
    expect(stdout).toBe(readFileSync(join(root, "examples", name, "output.txt"), "utf8"));
    expect(status).toBe(0);
  });

  test("a name that does not exist is answered with the examples", () => {
    const { status, stdout } = spawnSync(process.execPath, [join(root, "examples/run.mjs"), "nothing"], { encoding: "utf8" });
    expect(status).toBe(2);
    expect(stdout).toContain(`Examples: ${names.join(", ")}`);
  });
});
