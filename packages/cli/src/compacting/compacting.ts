import { type Compactor, type CompactorOptions, createCompactor, type SettingsSource } from "@bough/compaction";
import type { Io } from "../terminal/io.js";
import { styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { loadExactWidths } from "../terminal/width.js";
import type { PresetName } from "./preset-names.js";
import type { ModelOptions, SummaryModel } from "./summary-model.js";
import { writingLine } from "./writing-line.js";

/** What every command may be told that has a summary written. */
export interface WritingOptions extends ModelOptions {
  readonly focus?: string;
  readonly preset?: PresetName;
  /** The window of the session's model, in tokens. */
  readonly window?: number;
}

/** The settings that a person's options mean. */
export function settingsFor({ preset }: Pick<WritingOptions, "preset">, model: SummaryModel | null, keep?: number): SettingsSource {
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
export interface Writing {
  readonly signal: AbortSignal;
  readonly onEvent: NonNullable<CompactorOptions["onEvent"]>;
}

/** Runs what a model may take long for: its progress is on stderr meanwhile, and an interruption cancels it. */
export async function whileWriting<T>(
  io: Io,
  out: Printer,
  model: SummaryModel | null,
  work: (writing: Writing) => Promise<T>,
): Promise<T> {
  const says = `${model?.name ?? ""} writes the summary`;
  if (model !== null && io.progressStream === undefined) await out.note(styled("dim", says));
  await loadExactWidths();
  const cancellation = io.cancelOnInterrupt();
  // The extract is there at once.
  const line = writingLine(model === null ? undefined : io.progressStream, says, out.glyphs, io.now);
  try {
    return await work({ signal: cancellation.signal, onEvent: line.heard });
  } finally {
    line.end();
    cancellation.end();
  }
}
