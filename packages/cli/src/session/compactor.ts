import {
  type CompactionEvent,
  type Compactor,
  type CompactorOptions,
  createCompactor,
  type SettingsInput,
  type SettingsSource,
  type Summarizer,
} from "@bough/compaction";
import { count } from "@bough/session-core/view";
import type { PresetName } from "../config/presets.js";
import type { Config } from "../config/schema.js";
import type { Glyphs } from "../terminal/glyphs.js";
import type { Io } from "../terminal/io.js";
import { styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { drawOver, eraseLine, type LineStream } from "../terminal/progress-line.js";
import { safe } from "../terminal/safe.js";
import { loadExactWidths } from "../terminal/width.js";

/** Options of every command that writes a summary. */
export interface SummaryOptions {
  readonly model?: string;
  readonly baseUrl?: string;
  /** Name of the environment variable with the key. */
  readonly apiKeyEnv?: string;
  readonly extract?: boolean;
  readonly focus?: string;
  readonly preset?: PresetName;
  /** The context window of the session's model, in tokens. */
  readonly window?: number;
}

/** A model that writes summaries. */
export interface SummaryModel {
  readonly name: string;
  readonly summarizer: Summarizer;
  /** Its context window in tokens; undefined: neither the config file nor the table of models says it. */
  readonly windowTokens: number | undefined;
  /** The message of the error of its last call; undefined: the call succeeded. */
  readonly failure: () => string | undefined;
}

/** The settings of a compactor that override those of the config file. */
interface SettingsChoice {
  /** `--preset`; undefined: that of the config file. */
  readonly preset?: PresetName | undefined;
  /** The summary model of a command. Without one the preset must not fail or write a placeholder: an extract is written. */
  readonly model?: SummaryModel | null | undefined;
  /** `--keep`: tokens of the kept tail; 0: keep nothing. */
  readonly keep?: number | undefined;
}

/**
 * The compaction settings of the shell and of every command: the preset, the group `compaction` of the config file over it,
 * and the command-line options over both.
 */
export function compactionSettings(
  { preset: configured, compaction = {} }: Pick<Config, "preset" | "compaction">,
  { preset = configured, model = null, keep }: SettingsChoice = {},
): Exclude<SettingsSource, string> {
  const kept: SettingsInput["keep"] =
    keep === undefined ? {} : { by: keep === 0 ? "nothing" : "tokens", recentTokens: keep, manual: "same" };
  return {
    ...compaction,
    preset,
    keep: { ...compaction.keep, ...kept },
    summary: {
      ...(model === null ? { onFailure: "extract" } : {}),
      ...(model?.windowTokens === undefined ? {} : { windowTokens: model.windowTokens }),
      ...compaction.summary,
    },
  };
}

/** Creates a compactor, runs `work`, and closes the compactor. */
export async function withCompactor<T>(options: CompactorOptions, work: (compactor: Compactor) => Promise<T>): Promise<T> {
  const compactor = createCompactor(options);
  try {
    return await work(compactor);
  } finally {
    await compactor.close();
  }
}

/** Compactor options for cancellation and progress. */
interface CompactorCallbacks {
  readonly signal: AbortSignal;
  readonly onEvent: NonNullable<CompactorOptions["onEvent"]>;
}

/** Runs `work` with a progress line on stderr; SIGINT aborts its signal. Without a model there is no progress line. */
export async function withProgressLine<T>(
  io: Io,
  out: Printer,
  model: SummaryModel | null,
  work: (writing: CompactorCallbacks) => Promise<T>,
): Promise<T> {
  const operation = `${model?.name ?? ""} writes the summary`;
  if (model !== null && io.progressStream === undefined) await out.note(styled("dim", operation));
  await loadExactWidths();
  const cancellation = io.cancelOnInterrupt();
  // An extract takes no time.
  const line = startProgressLine(model === null ? undefined : io.progressStream, operation, out.glyphs, io.now);
  try {
    return await work({ signal: cancellation.signal, onEvent: line.onEvent });
  } finally {
    line.end();
    cancellation.end();
  }
}

/** A line that shows the progress of a summary. */
interface ProgressLine {
  onEvent(event: CompactionEvent): void;
  /** Erases the line. */
  end(): void;
}

const SILENT: ProgressLine = { onEvent: () => undefined, end: () => undefined };

/** Interval between two frames of the spinner, in milliseconds. */
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
 * Draws one line with a spinner, the stage of the summary, its characters so far, and the elapsed seconds. The cursor is not
 * hidden, so that a killed process leaves a usable terminal.
 */
export function startProgressLine(stream: LineStream | undefined, operation: string, glyphs: Glyphs, now: () => number): ProgressLine {
  if (stream === undefined) return SILENT;
  const startedAtMs = now();
  let drawnAtMs = startedAtMs;
  let part = "";
  let frame = 0;
  const draw = () => {
    drawnAtMs = now();
    const spinner = glyphs.spinner[frame % glyphs.spinner.length] ?? "";
    const text = safe(`${spinner} ${operation}${part}, ${Math.floor((drawnAtMs - startedAtMs) / 1000)} s`);
    drawOver(stream, text);
    frame += 1;
  };
  draw();
  const timer = setInterval(draw, FRAME_MS);
  return {
    onEvent: (event) => {
      if (event.type !== "compactionProgress") return;
      const stage = Object.hasOwn(STAGES, event.stage) ? STAGES[event.stage] : event.stage;
      part = `: ${stage}, ${count(event.chars)} characters`;
      // A model sends hundreds of deltas per second; at most one frame per interval is drawn.
      if (now() - drawnAtMs >= FRAME_MS) draw();
    },
    end: () => {
      clearInterval(timer);
      eraseLine(stream);
    },
  };
}
