import { writeFileSync } from "node:fs";
import { join } from "node:path";
import zlib from "node:zlib";
import { BoughError } from "@bough/session-core";
import type { SourceEntry } from "@bough/session-core/engine";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../../../session-core/test/world/stores.js";
import { codexFormat } from "../../src/codex/format.js";
import { readHead } from "../../src/source/json-lines.js";
import { EVERYTHING, entriesIn, recordsOf, THREAD } from "./rollout.js";

const CONTENT = Buffer.from(EVERYTHING.map((record) => `${JSON.stringify(record)}\n`).join(""));

const [STORED, RESERVED] = [0, 3];

/** A zstd frame of one block: a stored one is what a compressor writes for data that cannot be made smaller (RFC 8878, 3.1.1). */
function zstdOf(content: Buffer, blockType: number): Buffer {
  const [header, block] = [Buffer.alloc(9), Buffer.alloc(3)];
  header.writeUInt32LE(0xfd2fb528, 0);
  header.writeUInt8(0xa0, 4);
  header.writeUInt32LE(content.length, 5);
  block.writeUIntLE(content.length * 8 + blockType * 2 + 1, 0, 3);
  return Buffer.concat([header, block, content]);
}

const hasZstd = "zstdDecompressSync" in zlib;

/** A compressed rollout in a folder of its own. */
function compressedFile(bytes = zstdOf(CONTENT, STORED)): string {
  const path = join(tempFolder(), `rollout-2026-01-01T00-00-00-${THREAD}.jsonl.zst`);
  writeFileSync(path, bytes);
  return path;
}

/** The entries of a file, as an import reads it, or the message of its error. */
function outcomeOf(path: string): readonly SourceEntry[] | string {
  try {
    expect(codexFormat.detects(readHead(path))).toBe(true);
    return [...codexFormat.sessions(path)].flatMap((session) => entriesIn([...session.records()]));
  } catch (error) {
    if (error instanceof BoughError) return error.message.replace(path, "FILE");
    throw error;
  }
}

describe("a compressed rollout", () => {
  test("is read like the file that it was, or the message says which Node.js reads it", () => {
    expect(outcomeOf(compressedFile())).toEqual(
      hasZstd
        ? entriesIn(recordsOf(EVERYTHING))
        : `FILE cannot be read: it is compressed with zstd, which Node.js reads from version 22.15 on (this is ${process.version}).`,
    );
  });

  test("that is damaged is one error with the reason", () => {
    const outcome = outcomeOf(compressedFile(zstdOf(CONTENT, RESERVED)));
    expect(outcome).toMatch(hasZstd ? /^FILE cannot be read: its zstd data are damaged/ : /^FILE cannot be read: it is compressed/);
  });

  test("is one of Codex's files by its name", () => {
    const [agent] = codexFormat.agents ?? [];
    expect(["2026/01/01/rollout-x.jsonl.zst", "rollout-x.jsonl"].map((name) => agent?.files.test(name))).toEqual([true, true]);
    expect(["notes.jsonl", "rollout-x.txt"].map((name) => agent?.files.test(name))).toEqual([false, false]);
  });
});
