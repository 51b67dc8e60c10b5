import { describe, expect, test } from "vitest";
import type { TerminalProgram } from "./terminal-program.js";
import { home, modelServer } from "./test-home.js";

const RULE = /^─+$/;

/**
 * Resizes the terminal, and waits until the program has erased the old frame and the terminal shows one whole frame as wide as it is: no
 * part of an older frame is left. The cursor is hidden until a frame is whole. Before the program erases, output for the old size can
 * leave one row of the rule that the terminal broke, which looks like a whole frame of the new size.
 */
async function resize(terminal: TerminalProgram, columns: number, rows: number): Promise<void> {
  const erasures = terminal.erasures();
  terminal.resize(columns, rows);
  await terminal.until((screen) => {
    if (terminal.erasures() === erasures) return false;
    const rules = screen.split("\n").filter((line) => RULE.test(line));
    return rules.length === 1 && rules[0]?.length === columns && terminal.modes().cursorVisible;
  });
}

const SIZES = [
  [60, 20],
  [120, 30],
  [45, 15],
  [80, 24],
  [200, 60],
  [40, 12],
  [120, 30],
] as const;

describe("a change of the size of the terminal", () => {
  test.each([
    ["start", "C-a", "› "],
    // The emulator does not break the line that the cursor is in, as in VS Code: the cursor stays in its row.
    ["end", "C-e", "› the first line of a message, long enough to take two rows of a narrow terminal"],
  ])(
    "takes no line from the transcript, and leaves no part of the old frame: the cursor is at the %s of a line",
    async (...[, key, before]) => {
      const here = home();
      await here.parser();
      const terminal = await here.terminal("--session parser", { columns: 120, rows: 30 });
      await terminal.until(/replied in a4[\s\S]*branches/);
      terminal.type("/settings");
      terminal.press("Enter");
      // The frame below it too: the screen may be read between two pieces of the output.
      const screen = await terminal.until(/leaving a branch[\s\S]*^─[\s\S]*^─?.*branches/m);
      const transcript = screen.slice(0, screen.search(/^─/m)).trimEnd();
      for (const line of ["the first line of a message, long enough to take two rows of a narrow terminal\\", "second line of it\\"]) {
        terminal.type(line);
        terminal.press("Enter");
      }
      terminal.type("third");
      await terminal.until(/second line of it\n.*third/);
      // The cursor in the first row: more of the frame is below it.
      terminal.press("Up", "Up", key);
      await terminal.until(() => terminal.beforeCursor() === before);
      for (const [columns, rows] of SIZES) {
        await resize(terminal, columns, rows);
        expect(terminal.whole().join("\n")).toContain(transcript);
      }
      expect(terminal.whole().filter((line) => RULE.test(line))).toHaveLength(1);
    },
  );

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
      const resized = resize(terminal, columns, rows);
      hurry("More. ");
      await resized;
      expect(terminal.whole()).toContain("› Go on");
    }
    terminal.press("Escape");
    await terminal.until(/Stopped; the reply so far is kept\./);
    expect(terminal.whole()).toContain("› Go on");
  });
});
