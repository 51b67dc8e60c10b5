import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const ENTRIES = 25_000;
const HEAP_MB = 96;

test("25,000 entries are exported in every format and imported by a process whose heap is smaller than they are", () => {
  const folder = mkdtempSync(join(tmpdir(), "bough-streaming-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const child = join(import.meta.dirname, "child.mjs");
  const ran = spawnSync(process.execPath, [`--max-old-space-size=${HEAP_MB}`, child, folder, String(ENTRIES)], { encoding: "utf8" });
  expect(ran).toMatchObject({ status: 0, stdout: String(ENTRIES) });
  for (const name of ["large.md", "large.pi.jsonl", "large.jsonl"]) {
    expect(statSync(join(folder, name)).size).toBeGreaterThan(HEAP_MB * 1024 * 1024);
  }
});
