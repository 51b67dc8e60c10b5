import { syncCheckpoints, type WrittenCheckpoint, writeCheckpoint } from "../checkpoints/stored-checkpoints.js";
import { CheckpointError } from "../errors/compaction-errors.js";
import { fileListsOf } from "../plan/span.js";
import { listCheckpoints } from "../recall/list-checkpoints.js";
import type { Draft } from "./draft.js";
import type { Engine } from "./engine.js";
import type { CompactionDone } from "./results.js";

/**
 * Makes the checkpoint directory, if one is set, hold the summaries on the path of the current leaf: after an undo or a
 * navigation. A file that cannot be written is reported by the event `checkpointFailed`.
 */
export async function syncCheckpointFiles(engine: Engine): Promise<void> {
  const { directory } = engine.lastSettings.checkpoints;
  if (directory === null) return;
  await reportingFailure(engine, async () => syncCheckpoints(directory, engine.session.id, await listCheckpoints(engine.session)));
}

/** Writes a summary as a numbered file; null: it could not be written, which the event `checkpointFailed` reports. */
export async function writeCheckpointFile(
  engine: Engine,
  directory: string,
  { payload }: Draft,
  { entryId, trigger, title, shortSummary, summary, tokensBefore, tokensAfter }: CompactionDone,
): Promise<WrittenCheckpoint | null> {
  return reportingFailure(engine, () =>
    writeCheckpoint(directory, {
      number: 0,
      sessionId: engine.session.id,
      entryId,
      createdAtMs: engine.now(),
      trigger,
      tokensBefore,
      tokensAfter,
      covers: payload.covers,
      title: title ?? shortSummary,
      files: fileListsOf(payload),
      summary,
    }),
  );
}

/** The session holds every summary, so a file that cannot be written loses nothing. */
async function reportingFailure<T>(engine: Engine, write: () => Promise<T>): Promise<T | null> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof CheckpointError)) throw error;
    engine.emit({ type: "checkpointFailed", error });
    return null;
  }
}
