// Runs before each test file: removes the environment variables that change how programs print, so that tests and the processes
// they start print the same everywhere. With the variable CI set, Ink draws only its last frame.
const PRINTING = ["CI", "CONTINUOUS_INTEGRATION", "FORCE_COLOR", "NO_COLOR", "BOUGH_ASCII"];
const COMMAND = ["BOUGH_STORE", "BOUGH_MODEL", "BOUGH_BASE_URL", "BOUGH_API_KEY"];
for (const name of [...PRINTING, ...COMMAND]) delete process.env[name];

// The attack `properties` runs the property tests with other seeds, and prints the seed.
const seed = process.env["BOUGH_PROPERTY_SEED"];
if (seed !== undefined) (await import("fast-check")).configureGlobal({ seed: Number(seed) });
