import type { CompactionEvent } from "@bough/compaction";
import { count } from "../format/numbers.js";
import type { Glyphs } from "../terminal/glyphs.js";
import { safe } from "../terminal/safe.js";
import { truncate } from "../terminal/width.js";

/** As much of a terminal as a line that is drawn again and again needs. */
export interface LineStream {
  write(text: string): unknown;
  readonly columns?: number | undefined;
}

/** Tells a person how far a model is with a summary. */
export interface WritingLine {
  heard(event: CompactionEvent): void;
  /** Takes the line away. */
  end(): void;
}

const SILENT: WritingLine = { heard: () => undefined, end: () => undefined };

/** Between two pictures of the spinner, in milliseconds. */
const FRAME = 120;

const STAGES: Readonly<Record<string, string>> = {
  full: "the conversation",
  history: "the conversation",
  "turn-prefix": "the start of the turn",
  branch: "the branch",
  "missing-facts": "again, with what was missing",
  "short-summary": "the short form",
};

/**
 * One line with a spinner on a terminal: what is being written, how many characters have come, how long it takes. The
 * cursor stays visible, so a process that is killed leaves a terminal that works.
 */
export function writingLine(stream: LineStream | undefined, work: string, glyphs: Glyphs, now: () => number): WritingLine {
  if (stream === undefined) return SILENT;
  const startedAtMs = now();
  let drawnAtMs = startedAtMs;
  let part = "";
  let frame = 0;
  const draw = () => {
    drawnAtMs = now();
    const spinner = glyphs.spinner[frame % glyphs.spinner.length] ?? "";
    const text = safe(`${spinner} ${work}${part}, ${Math.floor((drawnAtMs - startedAtMs) / 1000)} s`);
    stream.write(`\r${truncate(text, roomOn(stream), "")}\u001b[K`);
    frame += 1;
  };
  draw();
  const timer = setInterval(draw, FRAME);
  return {
    heard: (event) => {
      if (event.type !== "compaction_progress") return;
      const stage = Object.hasOwn(STAGES, event.stage) ? STAGES[event.stage] : event.stage;
      part = `: ${stage}, ${count(event.chars)} characters`;
      // A model sends hundreds of pieces a second; nobody sees that many pictures.
      if (now() - drawnAtMs >= FRAME) draw();
    },
    end: () => {
      clearInterval(timer);
      stream.write("\r\u001b[K");
    },
  };
}

/** One column less than there are, so that the cursor stays on the line. A terminal that was never given a size says 0. */
function roomOn({ columns = 0 }: LineStream): number {
  return Math.max((columns === 0 ? 80 : columns) - 1, 1);
}
