import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SourceRecord } from "@bough/session-core/engine";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hasRealSession, realSession } from "../../../../.ci/real-sessions.mjs";
import { runs } from "../../../../.ci/test-runs.js";
import { claudeFormat } from "../../src/claude/format.js";
import { agentIdOfFile } from "../../src/claude/ids.js";
import { TranscriptReader } from "../../src/claude/transcript-reader.js";
import {
  attachment,
  boundary,
  call,
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

type Entry = Extract<SourceRecord, { kind: "entry" }>;

const entriesOf = (records: Iterable<SourceRecord>): readonly Entry[] => [...records].filter((record) => record.kind === "entry");

/** The entries of the transcript's session, read from these batches of lines. */
function readInBatches(batches: readonly (readonly Line[])[], agent?: string): readonly Entry[] {
  const reader = new TranscriptReader({ sessionId: SESSION, agent });
  const entries = batches.flatMap((batch) => {
    for (const line of batch) reader.add(line);
    return entriesOf(reader.read().home.records());
  });
  return [...entries, ...entriesOf(reader.read({ everything: true }).home.records())];
}

function imported(path: string): readonly Entry[] {
  const [session] = claudeFormat.sessions(path);
  return entriesOf(session?.records() ?? []);
}

/** The lines in batches that end at these places, given as shares of the transcript. */
function batchesOf(lines: readonly Line[], ends: readonly number[]): readonly (readonly Line[])[] {
  const places = [...new Set(ends.map((end) => Math.floor(end * lines.length)))].sort((a, b) => a - b);
  return [0, ...places].map((place, at) => lines.slice(place, places[at] ?? lines.length));
}

interface Turn {
  readonly calls: number;
  readonly mixed: boolean;
  readonly ending: "none" | "report" | "compaction";
  readonly rewind: boolean;
}

/** A conversation as Claude Code writes it: replies of several lines, results between them, reports, compactions, rewinds. */
function transcriptOf(turns: readonly Turn[]): readonly Line[] {
  const lines: Line[] = [side("queue-operation", { operation: "enqueue" })];
  let last: string | null = null;
  let before: string | null = null;
  for (const [at, { calls, mixed, ending, rewind }] of turns.entries()) {
    const asked: string | null = rewind ? before : last;
    before = last;
    lines.push(user(`u${at}`, asked, `question ${at}`));
    const answered: Line[] = [];
    let parent = `u${at}`;
    for (let number = 0; number < calls; number += 1) {
      const id = `a${at}.${number}`;
      lines.push(reply(id, parent, `m${at}`, [call(`c${at}.${number}`)]));
      const done = result(`r${at}.${number}`, id, `c${at}.${number}`);
      if (mixed) lines.push(done);
      else answered.push(done);
      parent = id;
    }
    lines.push(...answered, progress(`p${at}`, parent), attachment(`o${at}`, `p${at}`, { type: "opened_file_in_ide", filename: "a.ts" }));
    lines.push(reply(`e${at}`, calls === 0 ? parent : `r${at}.${calls - 1}`, `n${at}`, [{ type: "thinking", thinking: "hm" }]));
    lines.push(reply(`f${at}`, `e${at}`, `n${at}`, [text(`answer ${at}`)], { stop_reason: at % 2 === 0 ? "end_turn" : null }));
    last = `f${at}`;
    if (ending === "none") continue;
    lines.push(system(`t${at}`, last, "turn_duration"), side("custom-title", { customTitle: `title ${at}` }));
    last = `t${at}`;
    if (ending === "report") continue;
    lines.push(boundary(`b${at}`, last), summary(`s${at}`, `b${at}`));
    last = `s${at}`;
  }
  return lines;
}

const turn = fc.record({
  calls: fc.nat(4),
  mixed: fc.boolean(),
  ending: fc.constantFrom("none" as const, "report" as const, "compaction" as const),
  rewind: fc.boolean(),
});
const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 });

describe("a transcript that arrives in batches", () => {
  test("gives the entries of the import, however it is split", () => {
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 6 }), shares, (turns, ends) => {
        const lines = transcriptOf(turns);
        expect(readInBatches(batchesOf(lines, ends))).toEqual(imported(fileOf(lines)));
      }),
      { numRuns: runs(150) },
    );
  });

  test("gives them line by line", () => {
    const lines = transcriptOf([
      { calls: 3, mixed: true, ending: "compaction", rewind: false },
      { calls: 2, mixed: false, ending: "none", rewind: false },
    ]);
    expect(readInBatches(lines.map((line) => [line]))).toEqual(imported(fileOf(lines)));
  });

  test("of an agent gives the entries of the agent's file", () => {
    const lines = transcriptOf([{ calls: 2, mixed: false, ending: "report", rewind: false }]).map((line) =>
      typeof line.uuid === "string" ? sidechain(line, "x7") : line,
    );
    const path = fileOf(lines, join(SESSION, "subagents", "agent-x7.jsonl"));
    expect(
      readInBatches(
        lines.map((line) => [line]),
        "x7",
      ),
    ).toEqual(imported(path));
  });
});

describe("what waits", () => {
  function waitingAfter(...lines: readonly Line[]): number {
    const reader = new TranscriptReader({ sessionId: SESSION });
    for (const line of lines) reader.add(line);
    reader.read();
    return reader.waiting;
  }
  const question = user("u1", null, "go");
  const calling = reply("a1", "u1", "m1", [call("c1")], { stop_reason: "tool_use" });
  const answered = result("r1", "a1", "c1");

  test.each<[string, readonly Line[], number]>([
    ["a question does not", [question], 0],
    ["a reply with a call does, and its result", [question, calling, answered], 2],
    ["neither does after the next reply has begun", [question, calling, answered, reply("a2", "r1", "m2", [text("done")])], 1],
    ["a reply that has ended does not", [question, reply("a1", "u1", "m1", [text("done")], { stop_reason: "end_turn" })], 0],
    ["a boundary does until its summary", [question, boundary("b1", "u1")], 1],
    ["a boundary with its summary does not", [question, boundary("b1", "u1"), summary("s1", "b1")], 0],
  ])("%s", (_, lines, waiting) => {
    expect(waitingAfter(...lines)).toBe(waiting);
  });

  test("a reply that was read before its end is read again with all its lines", () => {
    const reader = new TranscriptReader({ sessionId: SESSION });
    for (const line of [question, calling]) reader.add(line);
    reader.read({ everything: true });
    reader.add(reply("a2", "a1", "m1", [call("c2")]));
    const [again] = entriesOf(reader.read({ everything: true }).home.records());
    expect(again).toMatchObject({ id: "a1", parentId: "u1", payload: { message: { content: [{ id: "c1" }, { id: "c2" }] } } });
  });
});

const folder = realSession("claude");
const paths = hasRealSession("claude")
  ? readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"))
  : ["every transcript"];

describe.runIf(hasRealSession("claude"))("real transcripts", () => {
  test.each(paths)("%s, line by line", (name) => {
    const path = join(folder, name);
    const lines = readFileSync(path, "utf8")
      .trimEnd()
      .split("\n")
      .map((line): Line => JSON.parse(line));
    const [session] = claudeFormat.sessions(path);
    const [sessionId] = session?.header.sessionId.split(".") ?? [];
    const reader = new TranscriptReader({ sessionId: sessionId ?? "", agent: agentIdOfFile(path) });
    const entries = lines.flatMap((line) => {
      reader.add(line);
      return entriesOf(reader.read().home.records());
    });
    entries.push(...entriesOf(reader.read({ everything: true }).home.records()));
    expect(entries).toEqual(imported(path));
  });
});
