import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { hasRealSession } from "../../.ci/real-sessions.mjs";

const MAIN = fileURLToPath(new URL("main.mjs", import.meta.url));

interface Held {
  readonly title: string;
  readonly answered: number;
  readonly questions: number;
  readonly missed: readonly string[];
  readonly chars: number;
}

function held(...options: readonly string[]): { readonly exams: readonly Held[]; readonly said: string } {
  const { stdout, stderr, status } = spawnSync(process.execPath, [MAIN, "--exam", "--json", ...options], { encoding: "utf8" });
  expect(status, stderr).toBe(0);
  const report: { readonly exams: readonly Held[] } = JSON.parse(stdout);
  return { exams: report.exams, said: stderr };
}

describe("the exam of the extract", () => {
  test("on a session of our own answers every question, in a quarter of its source", () => {
    const { exams } = held("--only", "own/");
    expect(exams.map(({ title, missed }) => ({ title, missed }))).toEqual([{ title: "own/export", missed: [] }]);
  });

  test("on real sessions answers no fewer questions than it did, or says loudly that it was not held", () => {
    const { exams, said } = held();
    // Answered when the exam was written; the extract before it answered 22 and 11.
    const least = new Map([
      ["pi/large-session", 31],
      ["claude/30530d66", 17],
    ]);
    for (const [title, count] of least) {
      const exam = exams.find((one) => one.title === title);
      if (hasRealSession()) expect(exam?.answered, `${title} without ${exam?.missed.join(" ")}`).toBeGreaterThanOrEqual(count);
      else expect(said).toContain(`EXAM NOT HELD: ${title}`);
    }
  });
});
