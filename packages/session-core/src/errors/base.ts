/**
 * Base of every failure this package raises on purpose.
 *
 * `code` is stable and for programs; `message` is one line for people and says what, where and what to do.
 *
 * @example
 * try { await session.append(entry); }
 * catch (error) { if (error instanceof BoughError && error.code === "LEAF_MOVED") await session.refresh(); }
 */
export abstract class BoughError extends Error {
  abstract readonly code: string;
}
