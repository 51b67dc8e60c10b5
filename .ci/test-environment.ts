// Runs before each test file: removes the environment variables that change how programs print, so that tests and the processes
// they start print the same everywhere.
const PRINTING = ["CI", "CONTINUOUS_INTEGRATION", "FORCE_COLOR", "NO_COLOR", "BOUGH_ASCII"];
const COMMAND = ["BOUGH_STORE", "BOUGH_MODEL", "BOUGH_BASE_URL", "BOUGH_API_KEY"];
for (const name of [...PRINTING, ...COMMAND]) delete process.env[name];

// `npm test` runs the property tests with one seed, so that it judges the change and gives the same answer twice. The attack
// `properties` (`npm run test:attack`) runs them with other seeds, and prints each.
const seed = Number(process.env["BOUGH_PROPERTY_SEED"] ?? 20_261_123);
(await import("fast-check")).configureGlobal({ seed });
