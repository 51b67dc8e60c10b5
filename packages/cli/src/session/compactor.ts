import { type CompactionEvent, type Compactor, type CompactorOptions, createCompactor, type SettingsSource } from "@bough/compaction";
import { count } from "../format/numbers.js";
import type { Glyphs } from "../terminal/glyphs.js";
import type { Io } from "../terminal/io.js";
import { styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { safe } from "../terminal/safe.js";
import { loadExactWidths, truncate } from "../terminal/width.js";
import type { PresetName } from "./presets.js";
import type { SummaryModel, SummaryModelOptions } from "./summary-model.js";

/** What every command may be told that has a summary written. */
export interface SummaryOptions extends SummaryModelOptions {
  readonly focus?: string;
  readonly preset?: PresetName;
  /** The window of the session's model, in tokens. */
  readonly window?: number;
}

/** The settings that a person's options mean. */
export function compactionSettings({ preset }: Pick<SummaryOptions, "preset">, model: SummaryModel | null, keep?: number): SettingsSource {
  return {
    preset,
    ...(keep === undefined ? {} : { keep: { by: keep === 0 ? "nothing" : "tokens", recentTokens: keep, manual: "same" } }),
    summary: {
      // Some presets would fail without a model, or leave a fixed line; who names none has asked for the extract.
      ...(model === null ? { onFailure: "extract" } : {}),
      ...(model?.windowTokens === undefined ? {} : { windowTokens: model.windowTokens }),
    },
  };
}

/** Lets `work` have a compactor, and closes it on every way out. */
export async function withCompactor<T>(options: CompactorOptions, work: (compactor: Compactor) => Promise<T>): Promise<T> {
  const compactor = createCompactor(options);
  try {
    return await work(compactor);
  } finally {
    await compactor.close();
  }
}

/** What a compactor is given for the time in which a summary is written. */
export interface CompactorCallbacks {
  readonly signal: AbortSignal;
  readonly onEvent: NonNullable<CompactorOptions["onEvent"]>;
}

/** Runs what a model may take long for: its progress is on stderr meanwhile, and an interruption cancels it. */
export async function withProgressLine<T>(
  io: Io,
  out: Printer,
  model: SummaryModel | null,
  work: (writing: CompactorCallbacks) => Promise<T>,
): Promise<T> {
  const says = `${model?.name ?? ""} writes the summary`;
  if (model !== null && io.progressStream === undefined) await out.note(styled("dim", says));
  await loadExactWidths();
  const cancellation = io.cancelOnInterrupt();
  // The extract is there at once.
  const line = startProgressLine(model === null ? undefined : io.progressStream, says, out.glyphs, io.now);
  try {
    return await work({ signal: cancellation.signal, onEvent: line.onEvent });
  } finally {
    line.end();
    cancellation.end();
  }
}

/** As much of a terminal as a line that is drawn again and again needs. */
export interface LineStream {
  write(text: string): unknown;
  readonly columns?: number | undefined;
}

/** Tells a person how far a model is with a summary. */
export interface ProgressLine {
  onEvent(event: CompactionEvent): void;
  /** Takes the line away. */
  end(): void;
}

const SILENT: ProgressLine = { onEvent: () => undefined, end: () => undefined };

/** Between two pictures of the spinner, in milliseconds. */
const FRAME_MS = 120;

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
export function startProgressLine(stream: LineStream | undefined, work: string, glyphs: Glyphs, now: () => number): ProgressLine {
  if (stream === undefined) return SILENT;
  const startedAtMs = now();
  let drawnAtMs = startedAtMs;
  let part = "";
  let frame = 0;
  const draw = () => {
    drawnAtMs = now();
    const spinner = glyphs.spinner[frame % glyphs.spinner.length] ?? "";
    const text = safe(`${spinner} ${work}${part}, ${Math.floor((drawnAtMs - startedAtMs) / 1000)} s`);
    stream.write(`\r${truncate(text, availableColumns(stream), "")}\u001b[K`);
    frame += 1;
  };
  draw();
  const timer = setInterval(draw, FRAME_MS);
  return {
    onEvent: (event) => {
      if (event.type !== "compactionProgress") return;
      const stage = Object.hasOwn(STAGES, event.stage) ? STAGES[event.stage] : event.stage;
      part = `: ${stage}, ${count(event.chars)} characters`;
      // A model sends hundreds of pieces a second; nobody sees that many pictures.
      if (now() - drawnAtMs >= FRAME_MS) draw();
    },
    end: () => {
      clearInterval(timer);
      stream.write("\r\u001b[K");
    },
  };
}

/** One column less than there are, so that the cursor stays on the line. A terminal that was never given a size says 0. */
function availableColumns({ columns = 0 }: LineStream): number {
  return Math.max((columns === 0 ? 80 : columns) - 1, 1);
}
