import { appendFileSync, writeFileSync } from "node:fs";
import { ReadFromStartError, type ReadingPosition, type SourceRecord } from "@bough/session-core/engine";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { claudeFormat } from "../../src/claude/format.js";
import { grown, watchedEqualsImported } from "../world/watched.js";
import {
  attachment,
  boundary,
  call,
  directory,
  fileOf,
  type Line,
  progress,
  reply,
  result,
  SESSION,
  side,
  sidechain,
  summary,
  system,
  text,
  user,
} from "./claude-file.js";

// A transcript that grew is read on from where it ended. Only its last records are known then: each test has more than these.

/** What happens next in a session; numbers choose among what was written before. */
type Step =
  | { readonly kind: "turn"; readonly tools: number; readonly ends: boolean; readonly reports: boolean }
  | { readonly kind: "rewind" | "summary title"; readonly back: number }
  | { readonly kind: "title" | "compaction" | "repeat" | "late result" | "hook" };

const steps = fc.array(
  fc.oneof(
    {
      weight: 12,
      arbitrary: fc.record({ kind: fc.constant("turn"), tools: fc.nat(3), ends: fc.boolean(), reports: fc.boolean() } as const),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("rewind", "summary title"), back: fc.nat(150) } as const) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("title", "compaction", "repeat", "late result", "hook") } as const) },
  ),
  { minLength: 25, maxLength: 45 },
);

/** The lines of a session in which this happens. */
function linesOf(all: readonly Step[]): readonly Line[] {
  const lines: Line[] = [];
  const ids: string[] = [];
  const calls: string[] = [];
  let last: string | null = null;
  const add = (make: (uuid: string, parent: string | null) => Line) => {
    const uuid = `00000000-0000-4000-8000-${String(lines.length).padStart(12, "0")}`;
    lines.push(make(uuid, last));
    ids.push(uuid);
    last = uuid;
  };
  const turn = ({ tools, ends, reports }: Extract<Step, { kind: "turn" }>) => {
    add((uuid, parent) => user(uuid, parent, `ask ${lines.length}`));
    if (reports) add((uuid, parent) => attachment(uuid, parent, { type: "opened_file_in_ide", filename: `${lines.length}.ts` }));
    for (let at = 0; at < tools; at += 1) {
      const id = `call-${lines.length}`;
      calls.push(id);
      add((uuid, parent) => reply(uuid, parent, `m${id}`, [{ type: "thinking", thinking: "Hm.", signature: "s" }]));
      add((uuid, parent) => reply(uuid, parent, `m${id}`, [text("I look."), call(id)], { stop_reason: "tool_use" }));
      if (reports) add((uuid, parent) => progress(uuid, parent));
      add((uuid, parent) => result(uuid, parent, id));
    }
    add((uuid, parent) => reply(uuid, parent, `e${lines.length}`, [text("Done.")], ends ? { stop_reason: "end_turn" } : {}));
    if (reports) add((uuid, parent) => system(uuid, parent, "turn_duration", { durationMs: 5 }));
  };
  for (const step of all) {
    switch (step.kind) {
      case "turn":
        turn(step);
        break;
      case "rewind":
        last = ids.at(-1 - step.back) ?? null;
        break;
      case "summary title":
        lines.push(side("summary", { summary: `about ${lines.length}`, leafUuid: ids.at(-1 - step.back) ?? "elsewhere" }));
        break;
      case "title":
        lines.push(side("custom-title", { customTitle: `A title ${lines.length}` }));
        break;
      case "compaction":
        add((uuid) => boundary(uuid, last));
        add((uuid, parent) => summary(uuid, parent));
        break;
      case "repeat":
        if (lines.length > 0) lines.push(lines[Math.floor(lines.length / 2)] ?? {});
        break;
      case "late result":
        add((uuid, parent) => result(uuid, parent, calls[0] ?? "unknown"));
        break;
      case "hook":
        add((uuid, parent) => user(uuid, parent, "<system-reminder>hook</system-reminder>", { isMeta: true }));
        break;
    }
  }
  return lines;
}

const toContent = (lines: readonly Line[]) => Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));

test("a watched transcript of any session is equal to the complete one", async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.array(fc.double({ min: 0.3, max: 1, noNaN: true }), { minLength: 2, maxLength: 8 }), async (all, cuts) => {
      const content = toContent(linesOf(all));
      const ends = [...content.entries()].flatMap(([at, byte]) => (byte === 0x0a ? [at + 1] : []));
      const places = cuts.map((cut, at) => (ends[Math.floor(cut * (ends.length - 1))] ?? 0) + (at % 3 === 2 ? 20 : 0));
      const path = `.claude/projects/-work/${SESSION}.jsonl`;
      await watchedEqualsImported([
        grown(
          path,
          content,
          places.sort((a, b) => a - b),
        ),
      ]);
    }),
    { numRuns: runs(30) },
  );
});

test("a transcript that begins with the report of a hook is read on each time that it grows", async () => {
  const turns = Array.from({ length: 60 }, () => ({ kind: "turn", tools: 2, ends: true, reports: true }) as const);
  const content = toContent([progress("00000000-0000-4000-8000-00000000ffff", null), ...linesOf(turns)]);
  const ends = [...content.entries()].flatMap(([at, byte]) => (byte === 0x0a ? [at + 1] : []));
  const places = [0.4, 0.6, 0.8].map((share) => ends[Math.floor(share * ends.length)] ?? 0);
  await watchedEqualsImported([grown(`.claude/projects/-work/${SESSION}.jsonl`, content, places)]);
});

/** Forty turns of which the first reading knows all. */
const EARLIER = linesOf(Array.from({ length: 40 }, () => ({ kind: "turn", tools: 2, ends: true, reports: true }) as const));
const lastId = String(EARLIER.at(-1)?.uuid);
/** The prompt and an attachment are the lines before it. */
const FIRST_CALL = "call-2";

/** Reads a transcript, and on from where that ended when it has grown by these lines. */
function readOn(more: readonly Line[]): { readonly lines: readonly number[]; readonly position: ReadingPosition | undefined } {
  const path = fileOf(EARLIER);
  const [first] = claudeFormat.sessions(path);
  for (const _ of first?.records() ?? []);
  const position: ReadingPosition | undefined = JSON.parse(JSON.stringify(first?.position?.() ?? null)) ?? undefined;
  // All but the last lines is gone, so whoever reads it finds nothing.
  const [gone, kept] = [toContent(EARLIER.slice(0, -5)).length, toContent(EARLIER.slice(-5))];
  writeFileSync(path, Buffer.concat([Buffer.alloc(gone, "\n"), kept]));
  appendFileSync(path, toContent(more));
  const [session] = claudeFormat.sessions(path, undefined, undefined, () => position);
  const records = [...(session?.records(position) ?? [])];
  return { lines: records.flatMap((record) => (record.kind === "entry" ? [record.line] : [])), position: session?.position?.() };
}

/** The entries of lines that a reading of a grown transcript gives, and those that a reading of all of it gives for the same lines. */
function bothReadings(earlier: readonly Line[], more: readonly Line[]) {
  const path = fileOf(earlier);
  const [first] = claudeFormat.sessions(path);
  for (const _ of first?.records() ?? []);
  const position: ReadingPosition | undefined = JSON.parse(JSON.stringify(first?.position?.() ?? null)) ?? undefined;
  appendFileSync(path, toContent(more));
  const [grownOn] = claudeFormat.sessions(path, undefined, undefined, () => position);
  const [whole] = claudeFormat.sessions(path);
  const entriesFrom = (records: Iterable<SourceRecord>, line: number) =>
    [...records].flatMap((record) => (record.kind === "entry" && record.line > line ? [record] : []));
  const readOn = position === undefined ? [] : entriesFrom(grownOn?.records(position) ?? [], 0);
  return { readOn, whole: entriesFrom(whole?.records() ?? [], (readOn[0]?.line ?? 0) - 1) };
}

describe("a transcript that grew", () => {
  test("behind a late result of an earlier call reads that result with the name of its tool", () => {
    const asked = [user("l0", null, "go"), reply("l1", "l0", "first", [call("late", "Task")], { stop_reason: "tool_use" })];
    const turns = Array.from({ length: 50 }, (_, at) => [
      user(`u${at}`, at === 0 ? "l1" : `a${at - 1}`, `ask ${at}`),
      reply(`a${at}`, `u${at}`, `m${at}`, [text("Done.")], { stop_reason: "end_turn" }),
    ]).flat();
    const open = [reply("o1", "a49", "open", [text("I look.")]), result("r1", "o1", "late")];
    const { readOn: records, whole } = bothReadings(
      [...asked, ...turns, ...open],
      [reply("o2", "r1", "open", [call("c2")], { stop_reason: "tool_use" }), result("r2", "o2", "c2")],
    );
    expect(JSON.stringify(records)).toContain('"toolName":"Task"');
    expect(records).toEqual(whole);
  });

  test("by a turn is read from where it ended", () => {
    const more = [user("n1", lastId, "More"), reply("n2", "n1", "n", [text("Yes.")], { stop_reason: "end_turn" })];
    const { lines, position } = readOn(more);
    expect(lines.slice(-2)).toEqual([EARLIER.length + 1, EARLIER.length + 2]);
    expect(lines.length).toBeLessThan(5);
    expect(position?.line).toBe(EARLIER.length + 2);
  });

  test.each([
    ["an earlier prompt is rewound to", [user("n1", String(EARLIER[3]?.uuid), "Other")]],
    ["an earlier record is written again", [EARLIER[5] ?? {}]],
    ["an earlier call gets a second result", [result("n1", lastId, FIRST_CALL)]],
    ["the conversation is compacted", [boundary("n1", lastId), summary("n2", "n1")]],
    ["an agent is inside the transcript", [{ ...user("n1", null, "go"), isSidechain: true, agentId: "x" }]],
    ["a title names an earlier record", [side("summary", { summary: "A title", leafUuid: String(EARLIER[3]?.uuid) })]],
  ])("is read from its start when %s", (_, more) => {
    expect(() => readOn(more)).toThrow(ReadFromStartError);
  });
});

test("the transcript of an agent is read from its start when a record of the conversation is written into it", () => {
  const folder = directory();
  const started = call("t1", "Task", { description: "Look", prompt: "ask 0" });
  fileOf([user("s0", null, "go"), reply("s1", "s0", "start", [started], { stop_reason: "tool_use" })], `${SESSION}.jsonl`, folder);
  const path = fileOf(
    EARLIER.map((line) => sidechain(line, "a1")),
    `${SESSION}/subagents/agent-a1.jsonl`,
    folder,
  );
  const [first] = claudeFormat.sessions(path);
  for (const _ of first?.records() ?? []);
  const position: ReadingPosition | undefined = JSON.parse(JSON.stringify(first?.position?.() ?? null)) ?? undefined;
  expect(position?.line).toBe(EARLIER.length);
  appendFileSync(path, toContent([user("n1", null, "Hello")]));
  const [session] = claudeFormat.sessions(path, undefined, undefined, () => position);
  expect(() => [...(session?.records(position) ?? [])]).toThrow(ReadFromStartError);
});
