import fc from "fast-check";
import { describe, test } from "vitest";
import { runs } from "../../../../../.ci/test-runs.js";
import { anyCuts, grown, watchedEqualsImported } from "../../world/watched.js";
import { jsonl, LOGS, WRITTEN_BY } from "../../world/watched-logs.js";

describe("a watched store is equal to one into which the complete files are imported", () => {
  test.each(WRITTEN_BY)("the log of %s, with syncs at any moments", async (program) => {
    const [path, lines] = LOGS[program];
    const content = jsonl(lines);
    await fc.assert(
      fc.asyncProperty(anyCuts(content), async (cuts) => watchedEqualsImported([grown(path, content, cuts)])),
      { numRuns: runs(8) },
    );
  });
});
