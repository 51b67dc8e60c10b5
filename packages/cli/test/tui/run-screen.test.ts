import { once } from "node:events";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { Terminal } from "../../src/terminal/io.js";
import { runScreen } from "../../src/tui/run-screen.js";
import { withoutEffects } from "../../src/tui/screen.js";

/** A terminal that records, in order, what is written to it and when its raw mode changes. */
function recordingTerminal() {
  const events: string[] = [];
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (on: boolean) => void events.push(`raw ${on}`),
    ref: () => undefined,
    unref: () => undefined,
  });
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 40, rows: 10 });
  stdout.on("data", (data: Buffer) => events.push(data.toString()));
  const written = async (text: string) => {
    while (!events.join("").includes(text)) await once(stdout, "data");
  };
  const terminal: Terminal = {
    // Streams in place of a terminal's: Ink uses no more of them than this.
    stdin: stdin as unknown as NodeJS.ReadStream,
    stdout: stdout as unknown as NodeJS.WriteStream,
    color: false,
    reflow: "all",
    onEnd: () => () => undefined,
    suspend: () => undefined,
  };
  return { terminal, stdin, events, written };
}

test("the terminal is in raw mode before the first frame is drawn, and restored at the end", async () => {
  const { terminal, stdin, events, written } = recordingTerminal();
  const ended = runScreen<string, never, never, string>(terminal, {
    kind: "inline",
    start: () => withoutEffects("typing"),
    update: (model, event) => withoutEffects(event.kind === "key" && event.key === "q" ? "over" : model),
    view: (model) => ({ lines: [{ line: [`now ${model}`] }] }),
    perform: () => undefined,
    result: (model) => (model === "over" ? model : undefined),
  });
  await written("now typing");
  stdin.write("q");
  expect(await ended).toBe("over");
  const frame = events.findIndex((event) => event.includes("now typing"));
  expect(events.slice(0, frame)).toContain("raw true");
  expect(events.filter((event) => event.startsWith("raw ")).at(-1)).toBe("raw false");
});
