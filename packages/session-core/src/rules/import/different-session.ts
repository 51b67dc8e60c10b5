import { createHash } from "node:crypto";
import type { SessionId } from "../../ids/ids.js";

/**
 * Thrown out of the transaction of an import to undo it: the store's session of this id holds other entries, so the
 * source is imported into another session. Caught in import-session.ts.
 */
export class DifferentSessionError extends Error {
  override readonly name = "DifferentSession";
  /** The id or the JSON of an entry that differs. The id of the other session is derived from it, so that importing again finds it. */
  readonly evidence: string;

  constructor(evidence: string) {
    super("the session holds other entries");
    this.evidence = evidence;
  }
}

/** The id of the session for a source that claims the id of another one; `tried`: the last id that was tried. */
export function deriveSessionId(claimed: SessionId, tried: SessionId, evidence: string): SessionId {
  const digest = createHash("sha256").update(tried).update("\n").update(evidence).digest("hex");
  return `${claimed.slice(0, 100)}~${digest.slice(0, 8)}`;
}
