import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { exportBough, exportMarkdown, importPath } from "@bough/formats";
import { openStore, toAiSdk, toAnthropic, toOpenAiChat, toOpenAiResponses } from "@bough/session-core";
import { REAL_SESSIONS } from "../../../.ci/real-sessions.mjs";
import { typed, violationsIn } from "../check-store.mjs";

const FOLDERS = [
  ...["../../../packages/cli/demo", "../../../packages/formats/test"].map((folder) => new URL(`${folder}/`, import.meta.url).pathname),
  REAL_SESSIONS,
];
const MOST_BYTES = 300_000;

/** Imports mutated session files: typed or whole, a second import adds nothing, and what is there can be used. */
export async function imports(attack) {
  const sources = FOLDERS.filter(existsSync).flatMap((folder) =>
    readdirSync(folder, { recursive: true })
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => readFileSync(join(folder, name), "utf8"))
      .filter((text) => text.length < MOST_BYTES),
  );
  if (sources.length === 0) return attack.finding("no session files to mutate were found");
  const path = join(attack.folder, "mutated.jsonl");
  while (attack.hasTime()) {
    writeFileSync(path, mutated(attack.random, attack.random.pick(sources)));
    const store = await openStore({ path: ":memory:" });
    await use(attack, store, path);
    await store.close();
    attack.count("files");
  }
}

async function use(attack, store, path) {
  const report = await typed(attack, "import", () => importPath(store, path));
  if (report === undefined) return;
  const again = await typed(attack, "second import", () => importPath(store, path));
  const added = again?.sessions.reduce((sum, { entriesAdded }) => sum + entriesAdded, 0) ?? 0;
  if (added > 0) attack.finding(`a second import added ${added} entries`);
  for (const finding of await violationsIn(store)) attack.finding(finding);
  for (const { sessionId } of report.sessions) {
    const session = await store.openSession(sessionId);
    const context = await typed(attack, "context", () => session.context());
    for (const convert of [toAiSdk, toAnthropic, toOpenAiChat, toOpenAiResponses]) {
      if (context !== undefined) await typed(attack, convert.name, () => convert(context));
    }
    for (const write of [exportBough, exportMarkdown]) {
      await typed(attack, write.name, async () => {
        for await (const _ of write(session));
      });
    }
    attack.count("sessions");
  }
}

const ODD = [
  "null",
  "0",
  '""',
  "[]",
  "{}",
  "1e999",
  "-1",
  '"\\u0000"',
  '"\\ud800"',
  '{"__proto__":{"a":1}}',
  `${"[".repeat(600)}${"]".repeat(600)}`,
];

function mutated(random, text) {
  const lines = text.split("\n");
  for (let times = 1 + random.below(6); times > 0; times -= 1) {
    const at = random.below(lines.length);
    const line = lines[at] ?? "";
    const cut = random.below(line.length + 1);
    const change = random.below(7);
    if (change === 0) lines.splice(at, 1);
    else if (change === 1) lines.splice(random.below(lines.length), 0, line);
    else if (change === 2) lines[at] = line.slice(0, cut);
    else if (change === 3) lines[at] = line.slice(0, cut) + String.fromCharCode(random.below(0xffff)) + line.slice(cut);
    else if (change === 4) lines[at] = line.replace(/:("[^"]*"|\d+|true|false|null)/, () => `:${random.pick(ODD)}`);
    else if (change === 5)
      lines[at] = line.replaceAll(/"(id|parentId|uuid|parentUuid|type|role)":/g, (key) => (random.chance(0.3) ? `"x${key.slice(1)}` : key));
    else lines[at] = lines[random.below(lines.length)] ?? "";
  }
  return lines.join("\n");
}
