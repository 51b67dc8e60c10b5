// The number of runs of each property, decided here alone. A property says how many runs show what it says: `numRuns: runs(500)`.
//
// `npm test` tries those of `*.property.test.ts`, which cost seconds, with a tenth of their runs; `npm run test:all` with all of them.
// The variable BOUGH_RUNS multiplies every number: BOUGH_RUNS=10 for a night.
import { expect } from "vitest";

const FACTOR = Number(process.env["BOUGH_RUNS"] ?? 1);

/** Set by the projects of vitest.config.ts that are quick. */
const FEW = Number(process.env["BOUGH_TEST_FEW"] ?? 1);

/** Fewer runs than these would say nothing. */
const FEWEST = 5;

export function runs(all: number): number {
  const costly = expect.getState().testPath?.endsWith(".property.test.ts") ?? false;
  const wanted = Math.ceil(all * FACTOR * (costly ? FEW : 1));
  return Math.max(wanted, Math.min(all, FEWEST));
}
