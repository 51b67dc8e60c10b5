// Real session files of agents are not part of the repository: `BOUGH_SESSIONS` names the folder with them, by default
// `../shared/sessions` beside the repository. Tests that need them are left out where it is missing (`.ci/left-out.ts` counts them).
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** The folder of the real sessions; it may be missing. */
export const REAL_SESSIONS = resolve(root, process.env.BOUGH_SESSIONS ?? "../shared/sessions");

/** The path of a file or folder of real sessions, such as `pi/large-session.jsonl`; it may be missing. */
export function realSession(path) {
  return join(REAL_SESSIONS, path);
}

/** True if there is a file or folder of real sessions. */
export function hasRealSession(path = ".") {
  return existsSync(realSession(path));
}
