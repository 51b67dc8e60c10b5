import { PassThrough } from "node:stream";
import { openStore } from "@bough/session-core";
import type { NavigatorModel } from "../../src/navigator/model.js";
import { navigatorScreen } from "../../src/navigator/navigator.js";
import type { Terminal } from "../../src/terminal/io.js";
import { runScreen } from "../../src/tui/run-screen.js";
import { quietIo } from "../quiet-io.js";

// What `npm run bench` measures the navigator with: everything of it but the terminal, which is a stream that counts.

/** A navigator that runs, and what it takes. Times in milliseconds. */
export interface TimedNavigator {
  /** From nothing opened to the first frame with rows. */
  readonly openMs: number;
  /** From nothing opened to the first frame of the whole tree, from which on every key acts. */
  readonly wholeMs: number;
  /** Presses a key: how long update and view take, and how long until the frame is written. */
  press(sequence: string, atMost: Promise<unknown>): Promise<{ readonly decidedMs: number; readonly drawnMs: number }>;
  end(): Promise<void>;
}

/** Opens a session in a navigator on a terminal of `columns` by `rows`. */
export async function timedNavigator(path: string, sessionId: string, columns: number, rows: number): Promise<TimedNavigator> {
  const from = performance.now();
  const terminal = new CountingTerminal(columns, rows);
  const store = await openStore({ path, durability: "normal" });
  const session = await store.openSession(sessionId);
  const compactor = () => Promise.reject(new Error("no key of the benchmark needs a compactor"));
  const world = {
    store,
    session,
    compactor,
    io: quietIo("/", { color: true, columns: terminal.terminal.stdout.columns }, { now: Date.now, terminal: terminal.terminal }),
    rememberChoice: async () => undefined,
  };
  const screen = navigatorScreen(world, await session.record(), {});
  let decidedMs = 0;
  let shown: "nothing" | "rows" | "whole" = "nothing";
  const timed = <Args extends readonly unknown[], T>(work: (...args: Args) => T) => {
    return (...args: Args): T => {
      const start = performance.now();
      const result = work(...args);
      decidedMs += performance.now() - start;
      return result;
    };
  };
  const view = timed(screen.view);
  const isWhole = () => shown === "whole";
  const ended = runScreen(terminal.terminal, {
    ...screen,
    update: timed(screen.update),
    view: (model: NavigatorModel) => {
      if (model.tree !== undefined) shown = model.reading === null ? "whole" : "rows";
      return view(model);
    },
  });
  while (shown === "nothing") await terminal.written();
  const openMs = performance.now() - from;
  while (!isWhole()) await terminal.written();
  const wholeMs = performance.now() - from;
  return {
    openMs,
    wholeMs,
    press: async (sequence, atMost) => {
      const start = performance.now();
      decidedMs = 0;
      const drawn = terminal.written();
      terminal.type(sequence);
      await Promise.race([drawn, atMost]);
      return { decidedMs, drawnMs: performance.now() - start };
    },
    end: async () => {
      terminal.type("\u0003");
      await ended;
      await store.close();
    },
  };
}

class CountingTerminal {
  readonly #stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: () => undefined,
    ref: () => undefined,
    unref: () => undefined,
  });
  readonly #stdout: PassThrough;
  #waiting: (() => void)[] = [];

  constructor(columns: number, rows: number) {
    this.#stdout = Object.assign(new PassThrough(), { isTTY: true, columns, rows });
    this.#stdout.on("data", () => {
      for (const resolve of this.#waiting.splice(0)) resolve();
    });
  }

  get terminal(): Terminal {
    return {
      // Streams in place of a terminal's: a screen uses no more of them than this.
      stdin: this.#stdin as unknown as NodeJS.ReadStream,
      stdout: this.#stdout as unknown as NodeJS.WriteStream,
      color: true,
      reflow: "all",
      onEnd: () => () => undefined,
      suspend: () => undefined,
    };
  }

  type(sequence: string): void {
    this.#stdin.write(sequence);
  }

  /** Resolves when something is written next. */
  written(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }
}
