import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { UnknownFormatError } from "../../src/errors/import-errors.js";
import { importPath } from "../../src/transfer/import-path.js";
import { openedStore, tempFolder } from "../world/stores.js";

test.skipIf(process.platform === "win32")("a pipe is refused instead of waiting for whoever writes to it", async () => {
  const path = join(tempFolder(), "pipe.jsonl");
  execFileSync("mkfifo", [path]);
  await expect(importPath(await openedStore(), path)).rejects.toThrow(UnknownFormatError);
});
