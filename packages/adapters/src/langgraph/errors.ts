import { BoughError } from "@bough/session-core";

/** A stored checkpoint cannot be read: another serializer or a newer version of this package wrote it. Nothing was changed. */
export class CheckpointUnreadableError extends BoughError {
  readonly code = "CHECKPOINT_UNREADABLE";
  readonly threadId: string;
  readonly checkpointId: string;

  constructor(threadId: string, checkpointId: string, reason: string, options: { cause?: unknown } = {}) {
    super(`Checkpoint ${checkpointId} of thread ${threadId} cannot be read: ${reason}.`, {
      ...options,
      hint: "Use the serializer and the version of @bough/adapters that wrote it.",
    });
    this.threadId = threadId;
    this.checkpointId = checkpointId;
  }
}
