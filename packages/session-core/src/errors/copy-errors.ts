import type { SessionId } from "../ids/ids.js";
import { shorten } from "../text/one-line.js";
import { BoughError } from "./bough-error.js";

/** Another process has written to a session, or deleted it, while it was copied into. Nothing of the last part was written. */
export class SessionChangedError extends BoughError {
  readonly code = "SESSION_CHANGED";
  readonly sessionId: SessionId;

  constructor(sessionId: SessionId) {
    super(`Session ${sessionId} of the target was changed while it was copied. Nothing more of it was written.`, {
      hint: "Copy it again.",
    });
    this.sessionId = sessionId;
  }
}

/** The content read back from the target after a copy differs from the source: one of the stores is damaged. */
export class CopyDiffersError extends BoughError {
  readonly code = "COPY_DIFFERS";
  readonly sessionId: SessionId;
  /** The SHA-256 of the session in the source and in the target, in hex. */
  readonly expected: string;
  readonly actual: string;

  constructor(sessionId: SessionId, expected: string, actual: string) {
    super(
      `The copy of session ${sessionId} differs from its source: digest ${actual.slice(0, 12)}, not ${expected.slice(0, 12)}. One of the stores is damaged.`,
      { hint: "Check both stores with store.verify(), and delete the copy." },
    );
    this.sessionId = sessionId;
    this.expected = expected;
    this.actual = actual;
  }
}

/** A session that another program sent is not one that a store can have: an entry is invalid, or its parts do not fit together. */
export class InvalidCopyError extends BoughError {
  readonly code = "INVALID_COPY";
  readonly sessionId: SessionId;

  constructor(sessionId: SessionId, reason: string) {
    super(`Session ${sessionId} was refused as it arrived: ${shorten(reason, 300)}. Nothing more of it was written.`, {
      hint: "Verify the store that it comes from.",
    });
    this.sessionId = sessionId;
  }
}
