import type { Session } from "@bough/session-core";
import { CompactorBusyError } from "../errors/compaction-errors.js";
import { idle, inHook } from "./lock.js";

/**
 * Does what takes the session for itself once nothing else does, however often something else is faster. A hook of an
 * operation does not wait for that operation, and is told that it is busy.
 *
 * @throws the reason of `signal` when it is aborted while waiting.
 */
export async function patiently<T>(session: Session, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  for (;;) {
    await idle(session, signal);
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof CompactorBusyError) || inHook(session)) throw error;
    }
  }
}
