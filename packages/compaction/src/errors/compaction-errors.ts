import { BoughError } from "@bough/session-core";

/** A setting is unknown, or its value is missing, of the wrong type or out of range. `field` is its path: `keep.recentTokens`. */
export class InvalidSettingError extends BoughError {
  readonly code = "INVALID_SETTING";
  readonly field: string;
  constructor(field: string, problem: string, message = `compaction setting '${field}': ${problem}`) {
    super(message, { hint: "docs/compaction.md lists all settings." });
    this.field = field;
  }
}

/** Another operation is running on this session: a compaction, a navigation or an undo. Await or cancel it. */
export class CompactorBusyError extends BoughError {
  readonly code = "COMPACTOR_BUSY";
  readonly asked: "compact" | "navigate" | "undo";
  readonly running: "compact" | "navigate" | "undo";
  constructor(asked: "compact" | "navigate" | "undo", running: "compact" | "navigate" | "undo") {
    super(`Cannot ${asked}: another operation (${running}) is running on this session.`, {
      hint: "Await it, or cancel it with compactor.abortCompaction() or its signal.",
    });
    this.asked = asked;
    this.running = running;
  }
}

/** A turn is running and setting `manual` is `when-idle`. Compact after the turn, or with `when: "turn-end"`. */
export class TurnRunningError extends BoughError {
  readonly code = "TURN_RUNNING";
  constructor() {
    super("Nothing was compacted: a turn is running.", { hint: 'Compact after the turn, or call compact({ when: "turn-end" }).' });
  }
}

/** A hook returned a summary that cannot be used. Nothing was written. */
export class HookResultError extends BoughError {
  readonly code = "HOOK_RESULT";
  readonly hook: string;
  constructor(hook: string, problem: string, options: { cause?: unknown } = {}) {
    super(`The result of the hook ${hook} cannot be used: ${problem}.`, options);
    this.hook = hook;
  }
}

/** The smallest possible request (system prompt, tools and the newest prompt) is larger than the context window. */
export class RequestTooLargeError extends BoughError {
  readonly code = "REQUEST_TOO_LARGE";
  readonly tokens: number;
  readonly limitTokens: number;
  constructor(tokens: number, limitTokens: number) {
    super(`The request needs at least ${tokens} tokens after everything optional was dropped, but the context window is ${limitTokens}.`, {
      hint: "Shorten the newest prompt, the system prompt or the tools, or use a model with a larger context window.",
    });
    this.tokens = tokens;
    this.limitTokens = limitTokens;
  }
}

/**
 * A checkpoint file or its directory could not be read, written or removed: missing permissions, a file in the way, a full
 * disk. The session is unchanged; files written before stay.
 */
export class CheckpointError extends BoughError {
  readonly code = "CHECKPOINT";
  readonly path: string;
  readonly doing: "read" | "write" | "remove";
  constructor(path: string, doing: "read" | "write" | "remove", reason: string, options: { cause?: unknown } = {}) {
    super(`Cannot ${doing} checkpoints at ${path}: ${reason}.`, options);
    this.path = path;
    this.doing = doing;
  }
}

/** The optional peer dependency `ai` (version 6 or 7) is not installed. */
export class AiSdkMissingError extends BoughError {
  readonly code = "AI_SDK_MISSING";
  constructor(found: "missing" | "older", options: { cause?: unknown } = {}) {
    const what = found === "missing" ? "could not be loaded" : "is installed in an older version";
    super(`The package "ai" (version 6 or 7) ${what}.`, {
      ...options,
      hint: "Install it: npm install ai@6",
    });
  }
}

/** The input of recall is not valid: `message` says which part and why, on one line. */
export class RecallInputError extends BoughError {
  readonly code = "RECALL_INPUT";
  readonly problem: string;
  constructor(problem: string) {
    super(`The request is not valid: ${problem}.`);
    this.problem = problem;
  }
}
