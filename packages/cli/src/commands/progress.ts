import { CancelledError } from "../errors.js";
import { barText } from "../terminal/glyphs.js";
import type { Io } from "../terminal/io.js";
import { styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { drawOver, eraseLine } from "../terminal/progress-line.js";
import { safe } from "../terminal/safe.js";
import { loadExactWidths, padEnd } from "../terminal/width.js";

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

/** Least time between two drawings of a bar, in milliseconds. */
const REDRAW_MS = 100;

/** Columns of the bar, and of the name of the operation. */
const BAR_COLUMNS = 20;
const NAME_COLUMNS = 20;
/** Below this width there is no bar. */
const NARROW = BAR_COLUMNS + NAME_COLUMNS + 8;

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
  let drawnAtMs: number | undefined;
  return {
    // An import runs one synchronous transaction per session, in which no timer fires: each update draws the bar.
    update(done, total, what) {
      if (drawnAtMs !== undefined && performance.now() - drawnAtMs < REDRAW_MS) return;
      drawnAtMs = performance.now();
      const share = Math.min(done / Math.max(total, 1), 1);
      const isNarrow = (stream.columns || 80) < NARROW;
      const left = isNarrow ? operation : `${padEnd(operation, NAME_COLUMNS)} ${barText(share, BAR_COLUMNS, out.glyphs)}`;
      drawOver(stream, `${left} ${Math.floor(share * 100)}% ${safe(fileName(what))}`);
    },
    end() {
      if (drawnAtMs !== undefined) eraseLine(stream);
    },
  };
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

function fileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
