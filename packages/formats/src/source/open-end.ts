import type { OpenEnd } from "@bough/session-core/engine";
import { type FileFilter, writtenAtMs } from "./source-folders.js";

// How long a program must not have written until the open end of its file is complete as it is, in milliseconds.

/** A file may be this much newer than the clock of this machine, if another one writes it. An even newer time says nothing. */
const MOST_SKEW_MS = 3_600_000;

/**
 * Until when the open end of a file is left out, in milliseconds since 1970; null: it is complete as it is. Without a time of the source,
 * those of the file and of what is `beside` it count, at this moment: a program that wrote after the records were read is still writing.
 *
 * @throws {SourceUnreadableError} the system does not give the times.
 */
export function openUntil(path: string, { waitMs, changedAtMs }: OpenEnd, beside?: FileFilter["beside"]): number | null {
  const [changedMs, nowMs] = [changedAtMs ?? writtenAtMs(path, beside), Date.now()];
  const untilMs = Math.trunc(changedMs) + waitMs;
  return untilMs > nowMs && changedMs - nowMs < MOST_SKEW_MS ? untilMs : null;
}
