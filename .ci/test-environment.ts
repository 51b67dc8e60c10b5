// Runs before each test file: removes the environment variables that change how programs print, so that tests and the processes
// they start print the same everywhere.
import fc from "fast-check";
import { SEED } from "./test-projects.js";
import { runs } from "./test-runs.js";

const PRINTING = ["CI", "CONTINUOUS_INTEGRATION", "FORCE_COLOR", "NO_COLOR", "BOUGH_ASCII"];
const COMMAND = ["BOUGH_STORE", "BOUGH_MODEL", "BOUGH_BASE_URL", "BOUGH_API_KEY"];
for (const name of [...PRINTING, ...COMMAND]) delete process.env[name];

// A property that names no number has fast-check's hundred. The number depends on the file, and with it on the moment of the question.
fc.configureGlobal({
  seed: SEED,
  get numRuns() {
    return runs(100);
  },
});
