import { describe, expect, test } from "vitest";
import { home, modelServer } from "./test-home.js";

const RULE = /^─+$/;

/** Whether the screen has one frame, as wide as the terminal: no part of an older frame is left. */
const isDrawnFor = (columns: number) => (screen: string) => {
  const rules = screen.split("\n").filter((line) => RULE.test(line));
  return rules.length === 1 && rules[0]?.length === columns;
};

const SIZES = [
  [60, 20],
  [120, 30],
  [45, 15],
  [80, 24],
  [200, 60],
  [40, 12],
  [120, 30],
] as const;

// Retries: what the program wrote for the old size may reach the emulator when that has the new size already, as in any terminal.
describe("a change of the size of the terminal", { retry: 4 }, () => {
  test("takes no line from the transcript, whatever is in the prompt, and leaves no part of the old frame", async () => {
    const here = home();
    await here.parser();
    const terminal = await here.terminal("--session parser", { columns: 120, rows: 30 });
    await terminal.until(/replied in a4[\s\S]*branches/);
    terminal.type("/settings");
    terminal.press("Enter");
    // The frame below it too: the screen may be read between two pieces of the output.
    const before = await terminal.until(/leaving a branch[\s\S]*^─[\s\S]*^─?.*branches/m);
    const transcript = before.slice(0, before.search(/^─/m)).trimEnd();
    for (const line of ["the first line of a message, long enough to take two rows of a narrow terminal\\", "second line of it\\"]) {
      terminal.type(line);
      terminal.press("Enter");
    }
    terminal.type("third");
    await terminal.until(/second line of it\n.*third/);
    // The cursor in the first row: more of the frame is below it.
    terminal.press("Up", "Up");
    for (const [columns, rows] of SIZES) {
      terminal.resize(columns, rows);
      await terminal.until(isDrawnFor(columns));
      expect(terminal.whole().join("\n")).toContain(transcript);
    }
    expect(terminal.whole().filter((line) => RULE.test(line))).toHaveLength(1);
  });

  test("takes none while a reply is coming in", async () => {
    const here = home();
    let hurry: (text: string) => void = () => undefined;
    const { env } = await modelServer(async (_said, send) => {
      hurry = send;
      for (let line = 0; line < 12; line += 1)
        send(`Line ${line} of a reply that is wider than sixty columns and narrower than a hundred.\n\n`);
      await new Promise(() => undefined);
      return "done";
    });
    const terminal = await here.terminal("--new", { columns: 120, rows: 30, env });
    await terminal.until(/test-model/);
    terminal.type("Go on");
    terminal.press("Enter");
    await terminal.until(/Line 11 of/);
    for (const [columns, rows] of SIZES) {
      terminal.resize(columns, rows);
      hurry("More. ");
      await terminal.until(isDrawnFor(columns));
      expect(terminal.whole()).toContain("› Go on");
    }
    terminal.press("Escape");
    await terminal.until(/Stopped; the reply so far is kept\./);
    expect(terminal.whole()).toContain("› Go on");
  });
});
