import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

test("docs/architecture.md lists the files through which an append, a context, a request, a compaction and a key pass", () => {
  const { CI: _ci, ...env } = process.env;
  const { status, stderr } = spawnSync(process.execPath, [join(root, ".ci/ways.mjs"), "--check"], { encoding: "utf8", env });
  expect(status, stderr).toBe(0);
});
