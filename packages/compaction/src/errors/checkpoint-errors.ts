import { BoughError } from "@bough/session-core";

/**
 * A checkpoint file or its folder could not be read, written or removed: permissions, a file in the way, a full disk. The
 * session is not touched by it; files written before stay.
 */
export class CheckpointError extends BoughError {
  readonly code = "CHECKPOINT";
  override readonly name = "CheckpointError";
  constructor(
    readonly path: string,
    readonly doing: "read" | "write" | "remove",
    reason: string,
    options: { cause?: unknown } = {},
  ) {
    super(`Cannot ${doing} checkpoints at ${path}: ${reason}.`, options);
  }
}
