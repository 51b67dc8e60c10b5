import { once } from "node:events";
import { PassThrough } from "node:stream";
import type { Terminal } from "../../src/terminal/io.js";

/** A terminal that records, in order, what is written to it and when its raw mode changes. */
export function recordingTerminal(size = { columns: 40, rows: 10 }) {
  const events: string[] = [];
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (on: boolean) => void events.push(`raw ${on}`),
    ref: () => undefined,
    unref: () => undefined,
  });
  const stdout = Object.assign(new PassThrough(), { isTTY: true, ...size });
  stdout.on("data", (data: Buffer) => events.push(data.toString()));
  const written = async (text: string) => {
    while (!events.join("").includes(text)) await once(stdout, "data");
  };
  const onResume: (() => void)[] = [];
  const terminal: Terminal = {
    // Streams in place of a terminal's: a screen uses no more of them than this.
    stdin: stdin as unknown as NodeJS.ReadStream,
    stdout: stdout as unknown as NodeJS.WriteStream,
    color: false,
    reflow: "all",
    onEnd: () => () => undefined,
    suspend: (resumed) => void onResume.push(resumed),
  };
  const resume = () => onResume.splice(0).forEach((resumed) => void resumed());
  return { terminal, stdin, events, written, resume };
}
