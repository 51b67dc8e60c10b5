// Attacks stores: killed processes, power cuts, damaged files, many writers, mutated imports, random trees, hostile text,
// secrets in every place that can be read, links out of the folders of agents, text in the files of locked stores, what others plant in a database, a server that interrupts, addresses
// that are almost right, and the properties of the test suite with other seeds. The attacks share the time equally. Each prints its counts and the seed. The
// exit code is 1 if any attack has a finding.
//   node test/attack/main.mjs [--seed N] [--only kills,damage] [--minutes 10]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readOptions, refuse } from "../../.ci/program-options.mjs";
import { adapters } from "./attacks/adapters.mjs";
import { addresses } from "./attacks/addresses.mjs";
import { answers } from "./attacks/answers.mjs";
import { commands } from "./attacks/commands.mjs";
import { cuts } from "./attacks/cuts.mjs";
import { damage } from "./attacks/damage.mjs";
import { imports } from "./attacks/imports.mjs";
import { kills } from "./attacks/kills.mjs";
import { links } from "./attacks/links.mjs";
import { locked } from "./attacks/locked.mjs";
import { logins } from "./attacks/logins.mjs";
import { odd } from "./attacks/odd.mjs";
import { planted } from "./attacks/planted.mjs";
import { properties } from "./attacks/properties.mjs";
import { secrets } from "./attacks/secrets.mjs";
import { server } from "./attacks/server.mjs";
import { text } from "./attacks/text.mjs";
import { tree } from "./attacks/tree.mjs";
import { writers } from "./attacks/writers.mjs";
import { randomOf } from "./random.mjs";

const ATTACKS = {
  kills,
  cuts,
  damage,
  writers,
  imports,
  tree,
  text,
  secrets,
  links,
  locked,
  planted,
  server,
  addresses,
  commands,
  logins,
  answers,
  odd,
  adapters,
  properties,
};

const values = readOptions(import.meta.url, {
  seed: { type: "string" },
  only: { type: "string" },
  minutes: { type: "string", default: "10" },
});
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const names = values.only === undefined ? Object.keys(ATTACKS) : values.only.split(",");
const unknown = names.filter((name) => !Object.hasOwn(ATTACKS, name));
if (unknown.length > 0 || !Number.isSafeInteger(seed) || !(Number(values.minutes) > 0))
  refuse(`--only takes names of: ${Object.keys(ATTACKS).join(", ")}. --seed takes an integer, --minutes a number above 0.`);

let failed = false;
for (const name of names) {
  const folder = mkdtempSync(join(tmpdir(), "bough-attack-"));
  const until = Date.now() + (Number(values.minutes) * 60_000) / names.length;
  const counts = {};
  const findings = [];
  const attack = {
    folder,
    random: randomOf(seed),
    hasTime: () => Date.now() < until && findings.length < 20,
    count: (what, by = 1) => {
      counts[what] = (counts[what] ?? 0) + by;
    },
    finding: (text) => findings.push(text),
  };
  try {
    await ATTACKS[name](attack);
  } catch (error) {
    findings.push(`the attack stopped with an error: ${error.stack}`);
  }
  rmSync(folder, { recursive: true, force: true });
  const counted = Object.entries(counts).map(([what, times]) => `${times} ${what}`);
  process.stdout.write(`${name} (seed ${seed}): ${counted.join(", ")}; ${findings.length} findings\n`);
  for (const finding of findings) process.stdout.write(`  ${finding}\n`);
  failed ||= findings.length > 0;
}
process.exit(failed ? 1 : 0);
