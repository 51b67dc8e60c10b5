// Attacks a store again and again: killed processes, power cuts, damaged files, many writers, mutated imports, random
// trees, hostile text, the properties of the test suite. Each room runs for its share of the time, prints counts and its seed, and any finding makes the exit code 1.
//   node test/attack/main.mjs [--seed N] [--only kills,damage] [--minutes 10]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { randomOf } from "./random.mjs";
import { cuts } from "./rooms/cuts.mjs";
import { damage } from "./rooms/damage.mjs";
import { imports } from "./rooms/imports.mjs";
import { kills } from "./rooms/kills.mjs";
import { properties } from "./rooms/properties.mjs";
import { text } from "./rooms/text.mjs";
import { tree } from "./rooms/tree.mjs";
import { writers } from "./rooms/writers.mjs";

const ROOMS = { kills, cuts, damage, writers, imports, tree, text, properties };

const { values } = parseArgs({
  options: { seed: { type: "string" }, only: { type: "string" }, minutes: { type: "string", default: "10" } },
});
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const names = values.only === undefined ? Object.keys(ROOMS) : values.only.split(",");
const unknown = names.filter((name) => !Object.hasOwn(ROOMS, name));
if (unknown.length > 0 || !Number.isSafeInteger(seed) || !(Number(values.minutes) > 0)) {
  process.stderr.write(`--only takes names of: ${Object.keys(ROOMS).join(", ")}. --seed takes an integer, --minutes a number above 0.\n`);
  process.exit(2);
}

let failed = false;
for (const name of names) {
  const folder = mkdtempSync(join(tmpdir(), "bough-attack-"));
  const until = Date.now() + (Number(values.minutes) * 60_000) / names.length;
  const counts = {};
  const findings = [];
  const room = {
    folder,
    random: randomOf(seed),
    goesOn: () => Date.now() < until && findings.length < 20,
    count: (what, by = 1) => {
      counts[what] = (counts[what] ?? 0) + by;
    },
    finding: (text) => findings.push(text),
  };
  try {
    await ROOMS[name](room);
  } catch (error) {
    findings.push(`the room itself failed: ${error.stack}`);
  }
  rmSync(folder, { recursive: true, force: true });
  const counted = Object.entries(counts).map(([what, times]) => `${times} ${what}`);
  process.stdout.write(`${name} (seed ${seed}): ${counted.join(", ")}; ${findings.length} findings\n`);
  for (const finding of findings) process.stdout.write(`  ${finding}\n`);
  failed ||= findings.length > 0;
}
process.exit(failed ? 1 : 0);
