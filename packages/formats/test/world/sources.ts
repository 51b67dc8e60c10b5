import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ImportedSession, Store } from "@bough/session-core";
import type { SourceHeader, SourceRecord, SourceSession } from "@bough/session-core/engine";
import { entryNamed } from "../../../session-core/test/world/grow.js";
import { tempFolder } from "../../../session-core/test/world/stores.js";

/** A source session of words as `grow` has them, with `parent>` in front where the parent is not the word before. */
export function sourceOf(words: string, marks: readonly SourceRecord[] = [], header: Partial<SourceHeader> = {}): SourceSession {
  let last: string | null = null;
  const entries = words
    .split(" ")
    .filter((word) => word !== "")
    .map((word, at): SourceRecord => {
      const [parent, given = word] = word.includes(">") ? word.split(">") : [undefined, word];
      const { id, ...payload } = entryNamed(given);
      const parentId = parent === undefined ? last : parent === "" ? null : parent;
      last = id;
      return { kind: "entry", line: at + 2, id, parentId, createdAtMs: 1_000 + at, payload };
    });
  return { header: { sessionId: "s", kind: "conversation", createdAtMs: 1, ...header }, records: () => [...entries, ...marks] };
}

/** Imports a source as some format's file would be. */
export async function imported(store: Store, source: SourceSession): Promise<ImportedSession> {
  return store.storage.importSession(source, { format: "test", path: "/sessions/s.jsonl" });
}

/** A file of these lines; objects become JSON. A last line "" ends the file with a line break. */
export function fileOf(lines: readonly (string | object)[], name = "session.jsonl", folder = tempFolder()): string {
  const path = join(folder, name);
  writeFileSync(path, lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"));
  return path;
}
