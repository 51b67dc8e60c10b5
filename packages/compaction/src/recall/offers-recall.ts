import type { Session } from "@bough/session-core";

const offering = new WeakSet<Session>();

/** Whether the tools of `recallTools` were made for this handle, so that a summary may name them to the model. */
export function offersRecall(session: Session): boolean {
  return offering.has(session);
}

/** Remembers that they were. */
export function offerRecall(session: Session): void {
  offering.add(session);
}
