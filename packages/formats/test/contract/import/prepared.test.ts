import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  loadValidation,
  type PreparedRow,
  prepareRecord,
  type SourceRecord,
  type SourceSession,
  toRecord,
} from "@bough/session-core/engine";
import { expect, test } from "vitest";
import { ON_SERVER } from "../../../../../.ci/test-engine.js";
import { openedStore } from "../../../../session-core/test/world/stores.js";
import { FORMATS } from "../../../src/registry.js";
import { SourceFolders } from "../../../src/source/source-folders.js";
import { detectFormat, sessionsOfFile } from "../../../src/transfer/sessions-of-file.js";
import { stateOf } from "../../world/readings.js";
import { sourceOf } from "../../world/sources.js";

// A thread that reads a file hands the one that writes each entry as a text, with what follows from it if the writer has other work. Which of
// them derives it depends on the moment; what is stored must not.

const FIXTURES = join(import.meta.dirname, "../../fixtures");

const validate = await loadValidation();

/** Bytes in the data of a host, a member named __proto__, an origin, no time, a payload that is not valid: what a text could change. */
const UNUSUAL: readonly SourceRecord[] = [
  entry("bytes", { type: "custom", customType: "x", data: { bytes: new Uint8Array([0, 1, 255]), "$bough.bytes": "AA==" } }),
  entry("proto", { type: "custom", customType: "x", data: JSON.parse('{"__proto__":{"a":1},"b":-0}') }),
  entry("surrogate", { type: "message", message: { role: "user", content: "\ud800 alone" } }),
  { ...entry("copy", { type: "message", message: { role: "user", content: "a copy" } }), origin: { sessionId: "elsewhere", entryId: "e" } },
  { ...entry("timeless", { type: "message", message: { role: "user", content: "without a time" } }), createdAtMs: 0 },
  entry("invalid", { type: "message", message: { role: "nobody" } }),
  entry("contents", {
    type: "message",
    message: { role: "toolResult", toolCallId: "c", toolName: "t", details: { content: [] }, content: "said", isError: false },
  }),
  entry("undefined", { type: "message", message: { role: "user", content: "kept", extra: undefined } }),
];

function entry(id: string, payload: unknown): Extract<SourceRecord, { readonly kind: "entry" }> {
  return { kind: "entry", line: 1, id, parentId: null, createdAtMs: 1_700_000_000_000, payload };
}

/** The sessions of all fixtures, read anew. */
function* sources(): Generator<SourceSession> {
  const folders = new SourceFolders();
  for (const name of readdirSync(FIXTURES, { recursive: true, encoding: "utf8" }).sort()) {
    const path = join(FIXTURES, name);
    const format = statSync(path).isFile() ? detectFormat(path, FORMATS, folders) : undefined;
    if (format !== undefined) yield* sessionsOfFile(path, format, folders);
  }
  yield sourceOf("a b c", UNUSUAL);
  yield sourceOf("a b c", UNUSUAL, { sessionId: "twin" });
}

/** The state of a new store after an import of all of them, each record changed by `change`. */
async function importedState(change: (record: SourceRecord, directory: string | null) => SourceRecord): Promise<unknown> {
  const store = await openedStore();
  for (const { header, path, records } of sources()) {
    const directory = header.cwd ?? null;
    const changed = Array.from(records(), (record) => change(record, directory));
    await store.storage.importSession({ header, records: () => changed }, { format: "test", path: path ?? "/s.jsonl" });
  }
  // Its entries are copies, which no total counts, if the key of each content is the same.
  await store.storage.importSession(sourceOf("a b c", UNUSUAL, { sessionId: "copy" }), { format: "test", path: "/copy.jsonl" });
  return stateOf(store);
}

let unprepared: Promise<unknown> | undefined;

/** The state without prepared records, made once for all tests. */
function unpreparedState(): Promise<unknown> {
  unprepared ??= importedState((record) => record);
  return unprepared;
}

function received(prepared: SourceRecord | PreparedRow, directory: string | null): SourceRecord {
  return toRecord(structuredClone(prepared), directory);
}

/** How the record at a place is prepared: what follows from it needs the directory of its session. */
const WAYS = {
  "with what follows from it": (_at: number, directory: string | null) => ({ directory }),
  "as its text alone": () => undefined,
  // The unusual records are an odd number, so that each of them is prepared in both ways, in one session and in its twin.
  "by turns, as the writer has work or has none": (at: number, directory: string | null) => (at % 2 === 0 ? { directory } : undefined),
};

// On a server an import takes seconds. By turns it has both ways.
const TRIED = ON_SERVER ? (["by turns, as the writer has work or has none"] as const) : (Object.keys(WAYS) as (keyof typeof WAYS)[]);

test.each(TRIED)("an entry that another thread has prepared %s is stored as one that it has not", async (way) => {
  let at = 0;
  const prepared = await importedState((record, directory) => {
    at += 1;
    return received(prepareRecord(record, validate, WAYS[way](at, directory)), directory);
  });
  expect(prepared).toEqual(await unpreparedState());
});

test("what follows from a directory that is not the session's is derived again: paths in previews are those in the session's", async () => {
  const call = { type: "toolCall", id: "c", name: "read", arguments: { path: "/home/ada/app/src/parser.ts" } };
  const records = [entry("call", { type: "message", message: { role: "assistant", content: [call] } })];
  const previews = async (change: (record: SourceRecord) => SourceRecord) => {
    const store = await openedStore();
    const session = await store.createSession({ id: "s", cwd: "/home/ada/app" });
    const source = sourceOf("", records.map(change), { sessionId: "s", cwd: "/home/ada/copied" });
    await store.storage.importSession(source, { format: "test", path: "/s.jsonl" });
    return (await session.tree.outline()).map(({ preview }) => preview);
  };
  const prepared = (record: SourceRecord) =>
    received(prepareRecord(record, validate, { directory: "/home/ada/copied" }), "/home/ada/copied");
  expect(await previews(prepared)).toEqual(["[read src/parser.ts]"]);
  expect(await previews((record) => record)).toEqual(["[read src/parser.ts]"]);
});
