import type { SingleBar } from "cli-progress";
import type { Io } from "../terminal/io.js";
import { styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { safe } from "../terminal/safe.js";
import { loadExactWidths, padEnd, truncate } from "../terminal/width.js";

/** Tells a person how far a long piece of work is. */
export interface Progress {
  update(done: number, total: number, what: string): void;
  end(): void;
}

const SILENT: Progress = { update: () => undefined, end: () => undefined };

/** Columns of a terminal that the bar, the figures and the name of the work take. */
const FIXED_COLUMNS = 50;

/** A bar on a terminal; elsewhere one plain line that says what is being done. Always on stderr. */
export async function startProgress(io: Io, out: Printer, work: string): Promise<Progress> {
  const stream = io.progressStream;
  if (stream === undefined) {
    await out.note(styled("dim", work));
    return SILENT;
  }
  await loadExactWidths();
  const { default: bars } = await import("cli-progress");
  const room = Math.max((stream.columns ?? 80) - FIXED_COLUMNS, 0);
  const bar = new bars.SingleBar({
    stream,
    format: `${padEnd(work, 20)} {bar} {percentage}% {what}`,
    barsize: 20,
    hideCursor: false,
    clearOnComplete: true,
    linewrap: true,
    // Imports are one synchronous transaction a session: the bar is drawn when it is told, not by a timer.
    synchronousUpdate: true,
    ...(out.glyphs.ellipsis === "…" ? { barCompleteChar: "█", barIncompleteChar: "░" } : { barCompleteChar: "#", barIncompleteChar: "-" }),
  });
  return wrapBar(bar, room);
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
