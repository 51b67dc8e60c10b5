import { syncCheckpoints, type WrittenCheckpoint, writeCheckpoint } from "../checkpoints/write-checkpoints.js";
import { CheckpointError } from "../errors/compaction-errors.js";
import { fileListsOf } from "../plan/file-lists.js";
import { listCheckpoints } from "../recall/list-checkpoints.js";
import type { Draft } from "./draft.js";
import type { Engine } from "./engine.js";
import type { CompactionDone } from "./results.js";

/** Makes the folder hold what counts where the leaf stands now, where a directory is set: after an undo or a navigation. */
export async function syncCheckpointFiles(engine: Engine): Promise<void> {
  const { directory } = engine.lastSettings.checkpoints;
  if (directory === null) return;
  try {
    await syncCheckpoints(directory, engine.session.id, await listCheckpoints(engine.session));
  } catch (error) {
    if (!(error instanceof CheckpointError)) throw error;
    engine.emit({ type: "checkpointFailed", error });
  }
}

/** Writes the summary as a numbered file too, where a directory is set; null: none is, or it could not be written. */
export async function writeCheckpointFile(
  engine: Engine,
  { payload }: Draft,
  { entryId, trigger, title, shortSummary, summary, tokensBefore, tokensAfter }: CompactionDone,
): Promise<WrittenCheckpoint | null> {
  const { directory } = engine.lastSettings.checkpoints;
  if (directory === null) return null;
  const about = {
    sessionId: engine.session.id,
    entryId,
    createdAtMs: engine.now(),
    trigger,
    tokensBefore,
    tokensAfter,
    covers: payload.covers,
  };
  try {
    return await writeCheckpoint(directory, {
      number: 0,
      ...about,
      title: title ?? shortSummary,
      files: fileListsOf(payload),
      summary,
    });
  } catch (error) {
    // The session holds the summary; a file that cannot be written takes nothing away.
    if (!(error instanceof CheckpointError)) throw error;
    engine.emit({ type: "checkpointFailed", error });
    return null;
  }
}
