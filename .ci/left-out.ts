// Says at the end of a run how many tests were left out because there are no real session files, so that nobody takes such a run for a
// whole one.
import { readFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";
import { hasRealSession, REAL_SESSIONS } from "./real-sessions.mjs";

export const leftOut: Reporter = {
  onTestRunEnd(modules) {
    if (hasRealSession()) return;
    const needReal = modules.filter(needsRealSessions);
    const tests = needReal.reduce((sum, module) => sum + [...module.children.allTests("skipped")].length, 0);
    if (tests > 0) {
      process.stderr.write(
        `[tests] ${tests} tests were left out: no real session files in ${REAL_SESSIONS} (BOUGH_SESSIONS names their folder).\n`,
      );
    }
  },
};

function needsRealSessions({ moduleId }: TestModule): boolean {
  return readFileSync(moduleId, "utf8").includes("/.ci/real-sessions.mjs");
}
