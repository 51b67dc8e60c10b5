import { AsyncLocalStorage } from "node:async_hooks";
import type { Session } from "@bough/session-core";
import { CompactorBusyError } from "../errors/compaction-errors.js";
import { orAborted } from "./or-aborted.js";

/** What takes a session for itself. */
export type Work = "compact" | "navigate" | "undo";

// By handle and not by compactor, so that two compactors of one handle exclude each other too. Handles of other
// processes are kept apart by the store: the one that comes second finds its leaf moved.
const running = new WeakMap<Session, { readonly work: Work; readonly over: Promise<void> }>();

/** What runs on this session; undefined: nothing. */
export function workOn(session: Session): Work | undefined {
  return running.get(session)?.work;
}

// What a hook calls must not wait for the operation that waits for the hook.
const hooked = new AsyncLocalStorage<Session>();

/** Runs a hook of an operation on a session: what it calls there does not wait for that operation. */
export function asHook<T>(session: Session, hook: () => T): T {
  return hooked.run(session, hook);
}

/** Whether a hook of an operation on this session is what calls. */
export function inHook(session: Session): boolean {
  return hooked.getStore() === session;
}

/**
 * Waits until nothing runs on the session. What ran may have failed: that is told to who started it.
 *
 * @throws the reason of `signal` when it is aborted meanwhile.
 */
export async function idle(session: Session, signal?: AbortSignal): Promise<void> {
  if (inHook(session)) return;
  for (let one = running.get(session); one !== undefined; one = running.get(session)) await orAborted(one.over, signal);
}

/**
 * Runs `body` while nothing else of its kind runs on the session (regressions R36 to R38, R49).
 *
 * @throws {CompactorBusyError} something runs already.
 */
export async function alone<T>(session: Session, work: Work, body: () => Promise<T>): Promise<T> {
  const other = running.get(session);
  if (other !== undefined) throw new CompactorBusyError(work, other.work);
  let end = () => {};
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  // Before the body begins: what it tells at once may ask for work on the session too.
  running.set(session, { work, over });
  try {
    return await body();
  } finally {
    running.delete(session);
    end();
  }
}
