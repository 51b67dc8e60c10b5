import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { PRIVATE, writeNewFile } from "../../src/session/write-file.js";
import { quietIo } from "../quiet-io.js";

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "bough-write-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** Replaces functions of `node:fs/promises` until the test ends, for the modules that import them too. */
function replaceInNode(functions: Partial<typeof fs>): void {
  const before = { ...fs };
  Object.assign(fs, functions);
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fs, before);
    syncBuiltinESMExports();
  });
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

describe("a new file", () => {
  test("has its mode from the moment in which it is created", async () => {
    const path = join(folder(), "private.md");
    const modes: number[] = [];
    const { open } = fs;
    replaceInNode({
      open: async (...given) => {
        const file = await open(...given);
        modes.push((await file.stat()).mode & 0o777);
        return file;
      },
    });
    await writeNewFile(quietIo(folder()), path, ["text"], false, PRIVATE);
    expect(modes).toEqual([PRIVATE]);
    expect(modeOf(path)).toBe(PRIVATE);
  });

  test("that replaces another has its mode, whatever the umask", async () => {
    const path = join(folder(), "shared.md");
    writeFileSync(path, "old");
    chmodSync(path, 0o664);
    await writeNewFile(quietIo(folder()), path, ["new"], true, PRIVATE);
    expect(modeOf(path)).toBe(0o664);
  });
});
