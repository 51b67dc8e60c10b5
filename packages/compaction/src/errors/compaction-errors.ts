import { BoughError } from "@bough/session-core";

/** A setting is missing, of the wrong kind or out of range. Nothing was started. `field` is its path, as `keep.recentTokens`. */
export class InvalidSettingError extends BoughError {
  readonly code = "INVALID_SETTING";
  override readonly name = "InvalidSettingError";
  constructor(
    readonly field: string,
    problem: string,
  ) {
    super(`Compaction setting ${field}: ${problem}`);
  }
}

/** A compaction or a navigation of this session is running, and another one was asked for. Wait for it, or cancel it. */
export class CompactorBusyError extends BoughError {
  readonly code = "COMPACTOR_BUSY";
  override readonly name = "CompactorBusyError";
  constructor(
    readonly asked: "compact" | "navigate" | "undo",
    readonly running: "compact" | "navigate" | "undo",
  ) {
    super(`Cannot ${asked} while this session runs another operation (${running}). Wait until it is done, or cancel it.`);
  }
}

/** Setting `manual` is `when-idle` and the agent is inside a turn. Ask again after it, or with `when: "turn-end"`. */
export class TurnRunningError extends BoughError {
  readonly code = "TURN_RUNNING";
  override readonly name = "TurnRunningError";
  constructor() {
    super(`A turn is running, so nothing was compacted. Ask again when it is over, or with when: "turn-end".`);
  }
}

/** A hook supplied something that is no entry. Nothing was written. */
export class HookResultError extends BoughError {
  readonly code = "HOOK_RESULT";
  override readonly name = "HookResultError";
  constructor(
    readonly hook: string,
    problem: string,
    options: { cause?: unknown } = {},
  ) {
    super(`The hook ${hook} supplied a result that cannot be used: ${problem}`, options);
  }
}

/** The request does not fit, whatever is left out of it: system prompt, tools and the newest prompt alone are too large. */
export class RequestTooLargeError extends BoughError {
  readonly code = "REQUEST_TOO_LARGE";
  override readonly name = "RequestTooLargeError";
  constructor(
    readonly tokens: number,
    readonly limitTokens: number,
  ) {
    super(`The request needs ${tokens} tokens and the window takes ${limitTokens}, also without everything that may be left out.`);
  }
}

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

/** The package `ai` (version 6 or 7), an optional peer, is not installed. Install it, or use `definitions` of the recall tools. */
export class AiSdkMissingError extends BoughError {
  readonly code = "AI_SDK_MISSING";
  override readonly name = "AiSdkMissingError";
  constructor(options: { cause?: unknown } = {}) {
    super('The package "ai" (version 6) could not be loaded. Install it, or use the definitions of the tools as they are.', options);
  }
}
