import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const VITEST = fileURLToPath(new URL("../../../node_modules/vitest/vitest.mjs", import.meta.url));
/** Wrong arguments to every function are a table: once is enough. */
const TABLES = ["packages/session-core/test/arguments", "packages/compaction/test/arguments"];
const PROPERTIES = [
  "test/markdown",
  "packages/formats/test/markdown/authored-text",
  "packages/formats/test/import/mutated-files",
  "packages/session-core/test/contract/context/any-context",
  "packages/session-core/test/contract/search/any-search",
  "packages/session-core/test/contract/tree/any-tree",
  "packages/postgres/test/same-as-sqlite",
  "packages/compaction/test/fit/any-request",
  "packages/compaction/test/plan/any-window",
];

/** Hostile Markdown, wrong arguments and other properties of `npm run test:all`, again and again with seeds of their own. */
export async function properties(attack) {
  for (let round = 0; attack.hasTime(); round += 1) {
    const seed = attack.random.below(2 ** 31);
    const files = round === 0 ? [...TABLES, ...PROPERTIES] : [PROPERTIES[round % PROPERTIES.length]];
    const { code, output } = await run(files, seed);
    if (code !== 0) attack.finding(`BOUGH_PROPERTY_SEED=${seed} npx vitest run ${files.join(" ")}\n${output.slice(-3000)}`);
    attack.count("runs");
  }
}

function run(files, seed) {
  return new Promise((done) => {
    const env = { ...process.env, BOUGH_PROPERTY_SEED: String(seed), NO_COLOR: "1" };
    const child = spawn(process.execPath, [VITEST, "run", "--maxWorkers=1", ...files], {
      cwd: ROOT,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (data) => {
        output += data;
      });
    child.on("close", (code) => done({ code, output }));
  });
}
