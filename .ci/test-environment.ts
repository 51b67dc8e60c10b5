// Runs before each test file: takes away what a developer's or a CI's environment says about how programs print, so that
// tests and the processes they start print the same everywhere. Ink draws no frame before its end where CI is set.
const PRINTING = ["CI", "CONTINUOUS_INTEGRATION", "FORCE_COLOR", "NO_COLOR", "BOUGH_ASCII"];
const COMMAND = ["BOUGH_STORE", "BOUGH_MODEL", "BOUGH_BASE_URL", "BOUGH_API_KEY"];
for (const name of [...PRINTING, ...COMMAND]) delete process.env[name];

// The attack's room `properties` repeats the properties with other seeds, and says which.
const seed = process.env["BOUGH_PROPERTY_SEED"];
if (seed !== undefined) (await import("fast-check")).configureGlobal({ seed: Number(seed) });
