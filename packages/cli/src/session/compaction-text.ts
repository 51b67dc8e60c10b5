import type { CompactionDone, CompactionResult } from "@bough/compaction";
import type { FileLists } from "@bough/session-core";
import { count } from "@bough/session-core/view";
import { errorLine } from "../format/error-text.js";
import type { SummaryModel } from "./compactor.js";

/** Describes the outcome of a compaction in one line. `undo` is the command that undoes it. */
export function describeCompaction(result: CompactionResult, undo: string): string {
  switch (result.kind) {
    case "compacted":
      return `Compacted: ${count(result.tokensBefore)} tokens reduced to ${count(result.tokensAfter)}. ${undo} undoes it.`;
    case "nothing-to-compact":
      return `Nothing to compact: ${NOTHING_REASONS[result.reason]}.`;
    case "cancelled":
      return "Cancelled; nothing was written.";
    case "superseded":
      return "The session changed while the summary was written; nothing was written.";
    case "deferred":
      return "The context will be compacted at the end of the turn.";
    case "failed":
      return `The compaction failed: ${errorLine(result.error)}`;
  }
}

const NOTHING_REASONS: Readonly<Record<Extract<CompactionResult, { kind: "nothing-to-compact" }>["reason"], string>> = {
  "just-compacted": "there are no messages since the last compaction",
  "too-few-messages": "there are too few messages",
  "too-little-text": "a summary would not be shorter than the messages",
  "all-is-kept": "all messages fit into the kept tail",
  "no-cut-point": "the only turn cannot be split",
};

/** Describes who wrote a summary. */
export function describeMethod(method: CompactionDone["method"], model: SummaryModel | null): string {
  const name = model?.name ?? "a model";
  switch (method) {
    case "native":
      return "the provider of the session's model";
    case "normal":
      return name;
    case "strict":
      return `${name}, in a second, stricter request`;
    case "extract":
      return model === null
        ? "no model: it is an extract of the entries (to configure a model: bough help environment)"
        : `no model: it is an extract of the entries, because ${describeFailure(model)}`;
    case "marker":
      return `no model: it is a placeholder${model === null ? "" : `, because ${describeFailure(model)}`}`;
    case "hook":
      return "a hook";
  }
}

function describeFailure(model: SummaryModel): string {
  const failure = model.failure();
  return failure === undefined ? `${model.name} returned no usable summary` : `${model.name} failed: ${failure}`;
}

/** Describes the number of files. */
export function describeFiles({ readFiles, modifiedFiles }: FileLists): string {
  return `${count(readFiles.length)} read, ${count(modifiedFiles.length)} modified`;
}
