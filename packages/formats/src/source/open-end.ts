import type { OpenEnd } from "@bough/session-core/engine";
import { type FileFilter, writtenAtMs } from "./source-folders.js";

// The time without a write after which the open end of a program's file counts as complete, in milliseconds.

/** The time by which a file may be newer than the clock of this machine, if another machine writes it. An even newer time is ignored. */
const MOST_SKEW_MS = 3_600_000;

/**
 * Returns the time until which an import leaves out the open end of a file, in milliseconds since 1970; null: it is complete as it is.
 * Without a time of the source, it reads the times of the file and of the files `beside` it now: a program that wrote after the records
 * were read is still writing.
 *
 * @throws {SourceUnreadableError} the system does not give the times.
 */
export function openUntil(path: string, { waitMs, changedAtMs }: OpenEnd, beside?: FileFilter["beside"]): number | null {
  const [changedMs, nowMs] = [changedAtMs ?? writtenAtMs(path, beside), Date.now()];
  const untilMs = Math.trunc(changedMs) + waitMs;
  return untilMs > nowMs && changedMs - nowMs < MOST_SKEW_MS ? untilMs : null;
}
