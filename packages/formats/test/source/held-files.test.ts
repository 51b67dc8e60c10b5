import { appendFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../../../session-core/test/world/stores.js";
import { holdSmallFile, readStart, SourceFileReader } from "../../src/source/source-file.js";

/** A file of one line. */
function smallFile() {
  const path = join(tempFolder(), "s.jsonl");
  writeFileSync(path, "one\n");
  return {
    path,
    append: (text: string) => appendFileSync(path, text),
    /** The content that a reader gets; the first bytes of a long one. */
    read: () => readStart(path, 1_000).toString("utf8"),
    hold: (owner: object) => holdSmallFile({ path, bytes: statSync(path).size }, owner),
  };
}

describe("a small file that is held for an import", () => {
  test("keeps the bytes that it had until it is released", () => {
    const { append, read, hold } = smallFile();
    const release = hold({});
    append("two\n");
    expect(read()).toBe("one\n");
    release?.();
    expect(read()).toBe("one\ntwo\n");
  });

  test.each([
    ["small", "two\n"],
    ["too large to be held", "x".repeat(1 << 16)],
  ])("is read from the disk again as soon as another import lists it, %s", (_title, added) => {
    const { append, read, hold } = smallFile();
    const release = hold({});
    append(added);
    expect(hold({})).toBeUndefined();
    expect(read()).toContain(added.slice(0, 100));
    release?.();
  });

  test("stays held when one that held it before releases it", () => {
    const { append, read, hold } = smallFile();
    const releaseFirst = hold({});
    hold({});
    const release = hold({});
    append("two\n");
    releaseFirst?.();
    expect(read()).toBe("one\n");
    release?.();
  });

  test("is held once by an import that asks twice", () => {
    const { append, read, hold } = smallFile();
    const owner = {};
    const release = hold(owner);
    expect(hold(owner)).toBeUndefined();
    append("two\n");
    expect(read()).toBe("one\n");
    release?.();
  });

  test("has no bytes behind its end, as on the disk", () => {
    const { path, hold } = smallFile();
    const bytesBehind = () => {
      const file = new SourceFileReader(path);
      const bytes = file.bytesAt(100, 10).length;
      file.close();
      return bytes;
    };
    const onDisk = bytesBehind();
    const release = hold({});
    expect([onDisk, bytesBehind()]).toEqual([0, 0]);
    release?.();
  });
});
