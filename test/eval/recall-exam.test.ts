import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { hasRealSession } from "../../.ci/real-sessions.mjs";

const MAIN = fileURLToPath(new URL("recall-exam.mjs", import.meta.url));

interface Held {
  readonly title: string;
  readonly answered: number;
  readonly missed: readonly string[];
  readonly mostChars: number;
}

test("the exam of recall: one call with the question as it stands answers no fewer than it did, within its budget", () => {
  const { stdout, stderr, status } = spawnSync(process.execPath, [MAIN, "--json"], { encoding: "utf8" });
  expect(status, stderr).toBe(0);
  const { exams }: { readonly exams: readonly Held[] } = JSON.parse(stdout);
  const least = new Map([
    ["pi/large-session", 34],
    ["claude/30530d66", 14],
    ["own/export", 11],
  ]);
  for (const [title, count] of least) {
    const exam = exams.find((one) => one.title === title);
    if (title !== "own/export" && !hasRealSession()) expect(stderr).toContain(`EXAM NOT HELD: recall of ${title}`);
    else expect(exam?.answered, `${title} without ${exam?.missed.join(" ")}`).toBeGreaterThanOrEqual(count);
  }
  for (const { mostChars } of exams) expect(mostChars).toBeLessThanOrEqual(13_000);
});
