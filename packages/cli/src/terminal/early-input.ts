/** The part of a terminal's input that this needs. */
interface KeyInput {
  setRawMode(on: boolean): unknown;
  on(event: "data", listener: (data: Buffer) => void): unknown;
  off(event: "data", listener: (data: Buffer) => void): unknown;
  pause(): unknown;
  ref(): unknown;
  unref(): unknown;
  unshift(data: Buffer): void;
}

const CTRL_C = 3;
const CARRIAGE_RETURN = 13;
const LINE_FEED = 10;

/** Options of the shell and whether a value follows; with any other argument another command may run. */
const SHELL_OPTIONS: ReadonlyMap<string, boolean> = new Map([
  ["shell", false],
  ["--new", false],
  ["--resume", false],
  ...["--session", "--store", "--model", "--base-url", "--api-key-env", "--window"].map((option) => [option, true] as const),
]);

/** True if the command line starts the shell. */
export function startsShell(args: readonly string[]): boolean {
  for (let at = 0; at < args.length; at += 1) {
    const takesValue = SHELL_OPTIONS.get(args[at] ?? "");
    if (takesValue === undefined) return false;
    if (takesValue) at += 1;
  }
  return true;
}

let held: { readonly release: () => string } | undefined;

/**
 * Keeps what is typed while the shell is loading. Raw mode begins at once, so that the terminal neither prints the keys nor makes
 * Enter a line feed. `interrupt` is called on Ctrl-C. The process does not wait for input.
 */
export function holdInput(stdin: KeyInput, interrupt: () => void): void {
  const chunks: Buffer[] = [];
  let echoed = "";
  let wasRaw = false;
  const onData = (data: Buffer) => {
    if (data.includes(CTRL_C)) return interrupt();
    // Typed before raw mode began: the terminal has printed it, and Enter became a line feed.
    if (!wasRaw) echoed += data.toString();
    chunks.push(wasRaw ? data : Buffer.from(data.map((byte) => (byte === LINE_FEED ? CARRIAGE_RETURN : byte))));
  };
  stdin.setRawMode(true);
  stdin.on("data", onData);
  stdin.unref();
  // Keys that were typed before raw mode began are read in the next turn of the event loop.
  const markRaw = () => {
    wasRaw = true;
  };
  setImmediate(() => setImmediate(markRaw));
  held = {
    release: () => {
      stdin.off("data", onData);
      stdin.pause();
      stdin.setRawMode(false);
      stdin.ref();
      if (chunks.length > 0) stdin.unshift(Buffer.concat(chunks));
      return echoed.slice(echoed.lastIndexOf("\n") + 1);
    },
  };
}

/**
 * Ends `holdInput`: leaves raw mode and puts the kept bytes back into the stream, for the next reader or a program that is started on the terminal.
 * Returns the part of them that the terminal printed in its last line.
 */
export function releaseInput(): string {
  const echoed = held?.release() ?? "";
  held = undefined;
  return echoed;
}
