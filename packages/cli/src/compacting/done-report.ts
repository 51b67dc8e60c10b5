import type { CompactionDone } from "@bough/compaction";
import type { Session } from "@bough/session-core";
import { count } from "../format/numbers.js";
import type { Glyphs } from "../terminal/glyphs.js";
import { type Line, styled } from "../terminal/line.js";
import { fidelityText, filesOf, filesText, methodText } from "./summary-facts.js";
import type { SummaryModel } from "./summary-model.js";
import { type WindowChoice, windowText } from "./window-choice.js";

/** A compaction that was made, with what its report needs. */
export interface DoneReport {
  readonly session: Session;
  readonly done: CompactionDone;
  readonly files: ReturnType<typeof filesOf>;
  readonly window: WindowChoice;
  readonly model: SummaryModel | null;
}

/** Reads what the result leaves to the entry. */
export async function doneReport(
  session: Session,
  done: CompactionDone,
  window: WindowChoice,
  model: SummaryModel | null,
): Promise<DoneReport> {
  const entry = await session.entry(done.entryId);
  return { session, done, window, model, files: filesOf("details" in entry ? entry.details : undefined) };
}

/** The report as data. */
export function doneJson({ session, done, files, window, model }: DoneReport): Readonly<Record<string, unknown>> {
  const { kind: _kind, continuePrompt: _prompt, checkpointPath: _path, ...rest } = done;
  return { sessionId: session.id, ...rest, ...files, model: model?.name ?? null, modelFailure: model?.failure() ?? null, window };
}

/** The report for reading. */
export function doneLines({ session, done, files, window, model }: DoneReport, { to }: Glyphs): readonly Line[] {
  const saved = `${count(done.tokensBefore)} ${to} ${count(done.tokensAfter)} tokens, ${count(done.messagesBefore)} ${to} ${count(done.messagesAfter)} messages`;
  return [
    [styled("bold", "compacted: "), saved],
    ...(done.headroom ? [] : [[styled("error", "Little was won: what is kept still fills most of the window.")]]),
    fact("summary", done.title ?? done.shortSummary),
    fact("written by", methodText(done.method, model)),
    ...(done.fidelity === null ? [] : [fact("facts", fidelityText(done.fidelity))]),
    fact("files", filesText(files)),
    fact("window", windowText(window)),
    fact("entry", done.entryId),
    [styled("dim", `Look: bough show ${session.id} ${done.entryId}`)],
    [styled("dim", `Undo: bough compact ${session.id} --undo`)],
  ];
}

function fact(name: string, value: string): Line {
  return [styled("dim", `${name}: `), value];
}
