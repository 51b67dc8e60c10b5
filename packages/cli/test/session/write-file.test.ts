import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createTemporaryFolder, PRIVATE, writeNewFile } from "../../src/session/write-file.js";
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

/** From now on `link` fails as the kernel lets it fail on FAT. */
function withoutLinks(): void {
  const failing = async () => {
    throw Object.assign(new Error("EPERM: operation not permitted, link"), { code: "EPERM", errno: -1, syscall: "link" });
  };
  replaceInNode({ link: failing });
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

describe("a new file", () => {
  test("has its mode from the moment in which it is created", async () => {
    const place = folder();
    const path = join(place, "private.md");
    const modes: number[] = [];
    async function* pieces(): AsyncIterable<string> {
      for (const name of readdirSync(place)) modes.push(modeOf(join(place, name)));
      yield "text";
    }
    await writeNewFile(quietIo(folder()), path, pieces(), false, PRIVATE);
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

  describe.each([
    ["with hard links", () => undefined],
    ["without hard links", withoutLinks],
  ])("on a file system %s", (_, prepare) => {
    test("gets its name with all of its text, and no other file stays", async () => {
      prepare();
      const path = join(folder(), "new.md");
      await writeNewFile(quietIo(folder()), path, ["some ", "text"], false, PRIVATE);
      expect(readFileSync(path, "utf8")).toBe("some text");
      expect(modeOf(path)).toBe(PRIVATE);
      expect(readdirSync(dirname(path))).toEqual(["new.md"]);
    });

    test("does not replace one that another program creates meanwhile", async () => {
      prepare();
      const path = join(folder(), "new.md");
      async function* pieces(): AsyncIterable<string> {
        yield "mine";
        writeFileSync(path, "theirs");
      }
      await expect(writeNewFile(quietIo(folder()), path, pieces(), false)).rejects.toMatchObject({ code: "TARGET_EXISTS" });
      expect(readFileSync(path, "utf8")).toBe("theirs");
      expect(readdirSync(dirname(path))).toEqual(["new.md"]);
    });
  });

  test("is not there if it cannot get its name", async () => {
    withoutLinks();
    const path = join(folder(), "new.md");
    const failing = async () => {
      throw Object.assign(new Error("ENOSPC: no space left on device, rename"), { code: "ENOSPC", errno: -28, syscall: "rename" });
    };
    replaceInNode({ rename: failing });
    await expect(writeNewFile(quietIo(folder()), path, ["text"], false)).rejects.toMatchObject({ code: "OUTPUT_FAILED" });
    expect(readdirSync(dirname(path))).toEqual([]);
  });
});

test("a temporary folder that cannot be created is one line that names the place and the way out", async () => {
  const file = join(folder(), "file");
  writeFileSync(file, "");
  vi.stubEnv("TMPDIR", file);
  onTestFinished(() => void vi.unstubAllEnvs());
  const failure = createTemporaryFolder("demo");
  await expect(failure).rejects.toMatchObject({ code: "OUTPUT_FAILED" });
  await expect(failure).rejects.toThrow(/^Cannot create a temporary folder in .*file: .*\. Set TMPDIR to another folder\.$/);
});
