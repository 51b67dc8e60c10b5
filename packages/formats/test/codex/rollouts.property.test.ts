import { existsSync, readFileSync } from "node:fs";
import type { SourceRecord } from "@bough/session-core/engine";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { realSession } from "../../../../.ci/real-sessions.mjs";
import { codexFormat } from "../../src/codex/format.js";
import { headOf } from "../file-head.js";
import { nothingIsLost } from "../world/mutated-files.js";
import { EVERYTHING, entriesIn, message, meta, payloadsOf, recordsOf, sessionOf, THREAD } from "./rollout.js";

describe("a rollout", () => {
  test("is told from other formats by its envelope, also if its first line is missing", () => {
    expect(codexFormat.detects(headOf(EVERYTHING.slice(0, 2)))).toBe(true);
    expect(codexFormat.detects(headOf([message("user", "hi")]))).toBe(true);
    expect(codexFormat.detects(headOf([{ session_id: THREAD, ts: 1, text: "a prompt" }]))).toBe(false);
    expect(codexFormat.detects(headOf([{ id: THREAD, thread_name: "Parser", updated_at: "2026-01-01T00:00:00Z" }]))).toBe(false);
  });

  test("may have its times as milliseconds since 1970", () => {
    const lines = EVERYTHING.map((line) => ({ ...line, timestamp: Date.parse(String(line["timestamp"])) }));
    expect(codexFormat.detects(headOf(lines.slice(0, 2)))).toBe(true);
    const timesOf = (given: readonly object[]) => entriesIn(recordsOf(given)).map(({ createdAtMs }) => createdAtMs);
    expect(timesOf(lines)).toEqual(timesOf(EVERYTHING));
  });

  test("becomes the entries that docs/formats/codex.md names", () => {
    expect(payloadsOf(EVERYTHING)).toMatchSnapshot();
  });

  test("has its id, folder, branch and version in the header", () => {
    expect(sessionOf(EVERYTHING).header).toEqual({
      sessionId: THREAD,
      kind: "conversation",
      createdAtMs: Date.parse("2026-01-01T00:00:00Z"),
      cwd: "/home/ada/parser",
      metadata: {
        version: "0.104.0",
        gitBranch: "main",
        originator: "codex_cli_rs",
        source: "cli",
        model_provider: "openai",
        git: { branch: "main" },
      },
    });
  });

  test("without its first line has the id in its name; a further session_meta is that of the source of a fork", () => {
    expect(sessionOf(["{broken", ...EVERYTHING.slice(1), meta({ id: "other" })]).header.sessionId).toBe(THREAD);
    expect(sessionOf([meta({ forked_from_id: "source" }), meta({ id: "source" }), message("user", "hi")]).header).toMatchObject({
      sessionId: THREAD,
      parent: { sessionId: "source" },
    });
    expect(sessionOf([meta({ bough_forked_from: "ses_1" }), message("user", "hi")]).header).toMatchObject({
      parent: { sessionId: "ses_1" },
    });
  });

  test("that has grown is read on from the request that was open, at any line, with the same entries", () => {
    const whole = recordsOf(EVERYTHING);
    fc.assert(
      fc.property(fc.nat(EVERYTHING.length), (cut) => {
        const started = sessionOf(EVERYTHING.slice(0, cut));
        const first = [...started.records()];
        const grown = sessionOf(EVERYTHING);
        const rest = [...grown.records(started.position?.())];
        expect(lastOfEach([...first.filter(({ kind }) => kind !== "leaf"), ...rest])).toEqual(lastOfEach(whole));
        expect(grown.position?.()).toEqual(positionOf(EVERYTHING));
      }),
    );
  });

  test("of any mutation every line is an entry, part of one or reported", async () => {
    const content = Buffer.from(EVERYTHING.map((value) => `${JSON.stringify(value)}\n`).join(""));
    const real = realSession("codex/rollout-small.jsonl");
    await nothingIsLost([{ name: "r.jsonl", content }, ...(existsSync(real) ? [{ name: "real.jsonl", content: readFileSync(real) }] : [])]);
  });
});

/** The last state of each entry, and the other records without those of a line that was read twice. */
function lastOfEach(records: readonly SourceRecord[]): readonly unknown[] {
  const entries = new Map(entriesIn(records).map((entry) => [entry.id, entry]));
  const others = new Set(records.filter(({ kind }) => kind !== "entry" && kind !== "open").map((record) => JSON.stringify(record)));
  return [[...entries.values()].sort((a, b) => (a.id < b.id ? -1 : 1)), [...others].sort()];
}

function positionOf(lines: readonly object[]): unknown {
  const session = sessionOf(lines);
  for (const _ of session.records());
  return session.position?.();
}
