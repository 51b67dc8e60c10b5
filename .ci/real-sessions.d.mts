/** The folder of the real sessions; it may be missing. */
export const REAL_SESSIONS: string;

/** The path of a file or folder of real sessions, such as `pi/large-session.jsonl`; it may be missing. */
export function realSession(path: string): string;

/** True if there is a file or folder of real sessions. */
export function hasRealSession(path?: string): boolean;
