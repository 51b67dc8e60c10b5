import { describe, expect, test } from "vitest";
import { lineWidth } from "../../src/terminal/line.js";
import type { Size } from "../../src/tui/screen.js";
import { DrivenShell } from "./driven.js";

const SIZES: readonly Size[] = [
  { columns: 40, rows: 10 },
  { columns: 80, rows: 24 },
  { columns: 200, rows: 50 },
];

const REPLY = Array.from({ length: 12 }, (_, at) => `Line ${at + 1} of a reply, 日本語 among it, that is longer than a narrow screen.`);

/** A shell in which everything happens at once. */
async function busy(size: Size): Promise<DrivenShell> {
  const shell = await DrivenShell.open({ size });
  shell.event({ kind: "reply-started" }).event({ kind: "delta", text: REPLY.join("\n"), activity: "writing" });
  shell.enter("this waits").type("first line\nsecond 👩‍👩‍👧 line");
  return shell.event({
    kind: "status",
    status: { model: "test-model", usedTokens: 91_000, windowTokens: 100_000, cost: { storedUsd: 0.1234, estimatedUsd: 0 } },
  });
}

describe.each(SIZES)("at $columns × $rows", (size) => {
  test("a reply, a queued line and a prompt of two lines", async () => {
    expect((await busy(size)).shown).toMatchSnapshot();
  });

  test("a question while the prompt has text", async () => {
    const shell = await busy(size);
    const lines = Array.from({ length: 60 }, (_, at) => [`$ step ${at}`]);
    shell.event({ kind: "ask", question: { id: "call_1", name: "bash", lines, isOutside: false } });
    expect(shell.shown).toMatchSnapshot();
  });

  test("the completions", async () => {
    expect((await DrivenShell.open({ size })).type("/").press("down").shown).toMatchSnapshot();
  });

  test("fits, with the cursor in the text, also with a long error", async () => {
    const shell = await DrivenShell.open({ size });
    shell.type("a\nb\nc\nd\ne\nlast").event({ kind: "notice", text: "It failed for a long reason. ".repeat(40), isError: true });
    const { lines, cursor } = shell.frame;
    expect(lines.length).toBeLessThanOrEqual(size.rows);
    for (const { line } of lines) expect(lineWidth(line)).toBeLessThanOrEqual(size.columns);
    expect(lines[cursor?.row ?? -1]?.line.join("")).toContain("last");
  });
});
