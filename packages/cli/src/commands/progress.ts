import type { SingleBar } from "cli-progress";
import { CancelledError } from "../errors.js";
import type { Io } from "../terminal/io.js";
import { styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { safe } from "../terminal/safe.js";
import { loadExactWidths, padEnd, truncate } from "../terminal/width.js";

/** The progress of a long operation. */
export interface Progress {
  update(done: number, total: number, what: string): void;
  end(): void;
}

/**
 * Runs a long operation with its progress (`startProgress`); SIGINT aborts its signal.
 *
 * @throws {CancelledError} it failed after that; the message is `cancelled`.
 */
export async function withProgress<T>(
  io: Io,
  out: Printer,
  { operation, cancelled }: { readonly operation: string; readonly cancelled: string },
  work: (progress: Progress, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const progress = await startProgress(io, out, operation);
  const { signal, end } = io.cancelOnInterrupt();
  try {
    return await work(progress, signal);
  } catch (error) {
    if (!signal.aborted || error instanceof CancelledError) throw error;
    throw new CancelledError(cancelled, { cause: error });
  } finally {
    progress.end();
    end();
  }
}

const SILENT: Progress = { update: () => undefined, end: () => undefined };

/** Columns for the bar, the percentage and the name of the operation. */
const FIXED_COLUMNS = 50;

/**
 * Draws a progress bar on stderr if that is a terminal; otherwise prints `operation` once, when the first part is done: an operation that
 * fails at once prints its error only. Without `operation`, the previous one continues and only the bar is drawn.
 */
export async function startProgress(io: Io, out: Printer, operation = ""): Promise<Progress> {
  const stream = io.progressStream;
  if (stream === undefined) {
    return operation === "" ? SILENT : announced(out, operation);
  }
  await loadExactWidths();
  const { default: bars } = await import("cli-progress");
  const room = Math.max((stream.columns ?? 80) - FIXED_COLUMNS, 0);
  const bar = new bars.SingleBar({
    stream,
    format: `${padEnd(operation, 20)} {bar} {percentage}% {what}`,
    barsize: 20,
    hideCursor: false,
    clearOnComplete: true,
    linewrap: true,
    // An import runs one synchronous transaction per session, so a timer would not fire: `update` draws the bar.
    synchronousUpdate: true,
    ...(out.glyphs.ellipsis === "…" ? { barCompleteChar: "█", barIncompleteChar: "░" } : { barCompleteChar: "#", barIncompleteChar: "-" }),
  });
  return wrapBar(bar, room);
}

/** Prints the name of the operation once, at its first update. */
function announced(out: Printer, operation: string): Progress {
  let isTold = false;
  return {
    update() {
      if (!isTold) void out.note(styled("dim", operation));
      isTold = true;
    },
    end: () => undefined,
  };
}

function wrapBar(bar: SingleBar, room: number): Progress {
  let started = false;
  return {
    update(done, total, what) {
      const payload = { what: padEnd(truncate(safe(fileName(what)), room), room) };
      if (!started) bar.start(Math.max(total, 1), done, payload);
      else {
        bar.setTotal(Math.max(total, 1));
        bar.update(done, payload);
      }
      started = true;
    },
    end() {
      if (started) bar.stop();
    },
  };
}

function fileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
