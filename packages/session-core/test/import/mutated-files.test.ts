import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isObject, type JsonObject } from "../../src/entry/json.js";
import { BoughError } from "../../src/errors/bough-error.js";
import { readHead } from "../../src/source/json-lines.js";
import type { SourceRecord } from "../../src/source/source-session.js";
import type { Store } from "../../src/store/store.js";
import { FORMATS, type ImportReport, importPath } from "../../src/transfer/import-path.js";
import { drawing, MUTATIONS, mutated } from "../world/mutations.js";
import { findingsOf, openedStore, tempFolder } from "../world/stores.js";

const AGENT_FOLDER = "b3a7bd3c-5a10-4e7b-8ff0-7fc0cd6d1093/subagents";
const REAL = ["pi", "claude", `claude/${AGENT_FOLDER}`].map((name) =>
  fileURLToPath(new URL(`../../../../../shared/sessions/${name}/`, import.meta.url)),
);

/** Beginnings of real session files, where they are at hand, and small ones with everything that a format has. */
function corpus(): readonly { readonly name: string; readonly content: Buffer }[] {
  const real = REAL.filter((folder) => existsSync(folder)).flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => ({ name, content: beginning(readFileSync(join(folder, name))) })),
  );
  return [...real, ...Object.entries(SMALL).map(([name, records]) => ({ name, content: Buffer.from(records.map(jsonLine).join("")) }))];
}

const jsonLine = (record: object): string => `${JSON.stringify(record)}\n`;

function beginning(content: Buffer): Buffer {
  return content.length <= 40_000 ? content : content.subarray(0, content.lastIndexOf(10, 40_000) + 1);
}

const CLAUDE = "11111111-2222-4333-8444-555555555555";
const claude = (type: string, uuid: string, parentUuid: string | null, rest: object) => ({
  type,
  uuid,
  parentUuid,
  sessionId: CLAUDE,
  isSidechain: false,
  timestamp: "2026-01-01T00:00:00Z",
  ...rest,
});
const piEntry = (id: string, parentId: string | null, rest: object) => ({ id, parentId, timestamp: "2026-01-01T00:00:00Z", ...rest });
const user = (content: unknown) => ({ type: "message", message: { role: "user", content } });
const image = { type: "image", data: `blob:sha256:${"a".repeat(64)}`, mimeType: "image/png" };

const SMALL: Readonly<Record<string, readonly object[]>> = {
  "bough.jsonl": [
    { type: "bough-session", version: 1, id: "b", title: "Seed", titleSource: "user", createdAtMs: 1, metadata: { a: 1 } },
    ...["u1", "a1", "u2"].map((id, at) => ({
      type: "entry",
      id,
      parentId: ["u1", "a1"][at - 1] ?? null,
      createdAtMs: at,
      entry: user(id),
    })),
    {
      type: "entry",
      id: "c1",
      parentId: "u2",
      createdAtMs: 9,
      entry: { type: "compaction", summary: "s", firstKeptEntryId: "u2", tokensBefore: 9 },
    },
    { type: "entry", id: "e1", parentId: "c1", createdAtMs: 9, entry: { type: "context_edit", targetId: "u2", replacement: null } },
    { type: "label", entryId: "a1", label: "here", createdAtMs: 3 },
    { type: "leaf", name: "main", entryId: "u2" },
    { type: "value", key: "k", value: [1] },
  ],
  "omp.jsonl": [
    { type: "title", title: "Slot", source: "user" },
    { type: "session", version: 3, id: "omp", timestamp: "2026-01-01T00:00:00Z", cwd: "/x", title: "old" },
    piEntry("a", null, user([{ type: "text", text: "hi" }, image])),
    piEntry("t", "a", { type: "title_change", title: "new" }),
    piEntry("b", "t", { type: "message", message: { role: "assistant", content: "yes", usage: { input: 1 } } }),
    piEntry("l", "b", { type: "label", targetId: "a", label: "start" }),
    piEntry("c", "l", { type: "compaction", summary: "sum", firstKeptEntryId: "b", tokensBefore: 9 }),
    piEntry("d", "c", { type: "model_change", model: "x/y" }),
  ],
  [`${CLAUDE}.jsonl`]: [
    { type: "summary", summary: "Before", leafUuid: "u1" },
    claude("user", "u1", null, { message: { role: "user", content: "go" } }),
    ...["a1", "a2"].map((uuid, at) =>
      claude("assistant", uuid, at === 0 ? "u1" : "a1", {
        message: { id: "m1", role: "assistant", content: [{ type: "text", text: uuid }] },
      }),
    ),
    claude("system", "c1", null, {
      subtype: "compact_boundary",
      logicalParentUuid: "a2",
      compactMetadata: { trigger: "auto", preTokens: 9 },
    }),
    claude("user", "s1", "c1", { isCompactSummary: true, message: { role: "user", content: "what was" } }),
    claude("user", "x1", null, { isSidechain: true, agentId: "x7", message: { role: "user", content: "find it" } }),
    { type: "custom-title", customTitle: "Mine", sessionId: CLAUDE },
  ],
};

const CORPUS = corpus();

/** The lines of a file as every JSON reader sees them, by number; blank ones are none. */
function linesIn(content: Buffer): ReadonlyMap<number, unknown> {
  const lines = content
    .toString("utf8")
    .replace(/^\uFEFF/, "")
    .split("\n");
  return new Map([...lines.entries()].filter(([, line]) => line.trim() !== "").map(([at, line]) => [at + 1, parsed(line)]));
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Whether this record says something of the session, or is a part of another record, and becomes no entry. */
function isMergedOrMark(format: string, record: JsonObject): boolean {
  const type = typeof record.type === "string" ? record.type : "";
  if (format === "bough") return ["bough-session", "label", "leaf", "value"].includes(type);
  if (format === "pi") return ["label", "session_info", "title_change", "title"].includes(type);
  const { message } = record;
  const isPart = record.isCompactSummary === true || typeof record.uuid === "string" || (isObject(message) && message.id !== undefined);
  return isPart || ["custom-title", "ai-title", "summary", "tag"].includes(type);
}

/** What the reader of the file's format makes of it, session by session. */
function recordsIn(path: string): { readonly format: string; readonly records: readonly SourceRecord[] } {
  const format = FORMATS.find((candidate) => candidate.detects(readHead(path)));
  return { format: format?.name ?? "", records: [...(format?.sessions(path) ?? [])].flatMap((session) => [...session.records()]) };
}

/** Lines of which nothing was written, nothing was said and nothing is a part of anything: there must be none. */
function lostLines(path: string, content: Buffer): readonly number[] {
  const { format, records } = recordsIn(path);
  const accounted = new Set(records.map(lineOf));
  const lines = [...linesIn(content)];
  // The first record of a pi file that is no title slot is its header.
  const header = format === "pi" ? lines.find(([, value]) => isObject(value) && value.type !== "title")?.[0] : undefined;
  const lost = lines.filter(
    ([number, value]) => !accounted.has(number) && number !== header && !(isObject(value) && isMergedOrMark(format, value)),
  );
  return lost.map(([number]) => number);
}

function lineOf(record: SourceRecord): number | null {
  if (record.kind === "problem") return record.problem.line;
  return record.kind === "entry" ? record.line : null;
}

const total = (report: ImportReport, of: (session: ImportReport["sessions"][number]) => number) =>
  report.sessions.reduce((sum, session) => sum + of(session), 0);

async function attempted(store: Store, path: string): Promise<ImportReport | BoughError> {
  try {
    return await importPath(store, path);
  } catch (error) {
    if (error instanceof BoughError) return error;
    throw error;
  }
}

const mutations = fc.array(fc.record({ name: fc.constantFrom(...MUTATIONS), seed: fc.nat() }), { minLength: 1, maxLength: 3 });

test("there are 32 mutations", () => {
  expect(MUTATIONS).toHaveLength(32);
});

test("of any mutated file every record is an entry, part of one, a mark or reported; errors are typed; a second import adds nothing", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(CORPUS.length - 1), fc.nat(CORPUS.length - 1), mutations, async (at, otherAt, changes) => {
      const [seed, other] = [CORPUS[at], CORPUS[otherAt]];
      if (seed === undefined || other === undefined) throw new RangeError("no such file");
      const content = changes.reduce((file, { name, seed: from }) => mutated(file, name, drawing(from), other.content), seed.content);
      const path = join(tempFolder(), seed.name);
      writeFileSync(path, content);
      const store = await openedStore();
      const report = await attempted(store, path);
      if (report instanceof BoughError) {
        // A file that is there can be read; this code would hide a failure of the reader.
        expect(report.code).not.toBe("SOURCE_UNREADABLE");
        expect([report.message.length < 2_000, (await store.statistics()).sessions]).toEqual([true, 0]);
        return;
      }
      expect(lostLines(path, content)).toEqual([]);
      expect(total(report, ({ entriesAdded, entriesKnown }) => entriesAdded + entriesKnown)).toBe(
        recordsIn(path).records.filter(({ kind }) => kind === "entry").length,
      );
      expect(await findingsOf(store)).toEqual([]);
      const { sessions } = await store.statistics();
      const again = await importPath(store, path);
      expect([total(again, ({ entriesAdded }) => entriesAdded), (await store.statistics()).sessions]).toEqual([0, sessions]);
    }),
    { numRuns: 120 },
  );
});
