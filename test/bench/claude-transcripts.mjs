import { BoughSessionStore } from "@bough/adapters/claude-agent-sdk";
import { openBare } from "./baseline.mjs";
import { alternate, median } from "./measure.mjs";
import { withStore } from "./stores.mjs";

export const title = "claude transcripts";

/** The lines of a batch: five turns. */
const BATCH = 20;
const KEY = { projectKey: "-work", sessionId: "11111111-2222-4333-8444-555555555555" };

/** Lines of a transcript through the session store of the Claude Agent SDK, and through a table of lines as JSON. */
export async function run({ report, stores, sizes, rounds }) {
  for (const size of sizes.filter((entries) => entries <= 10_000)) {
    await withStore({ path: stores.path("claude"), durability: "normal" }, async (store) => {
      const ours = new BoughSessionStore(store);
      const bare = bareLines(stores.path("bare-claude"));
      const batches = { ours: batchesFrom(size), bare: batchesFrom(size) };
      for (let from = 0; from < size; from += 500) await ours.append(KEY, linesFrom(from, Math.min(500, size - from)));
      bare.append(linesFrom(0, size));
      const appends = {
        ours: { run: () => ours.append(KEY, batches.ours.next().value) },
        bare: { run: async () => bare.append(batches.bare.next().value) },
      };
      const appended = await alternate(appends, { rounds: rounds(40), warmUp: 3 });
      report.ratio(`claude transcripts: append ${BATCH} lines`, size, median(appended.ours), median(appended.bare), null);
      const loads = { ours: { run: () => ours.load(KEY) }, bare: { run: async () => bare.load() } };
      const loaded = await alternate(loads, { rounds: rounds(10), warmUp: 1 });
      report.ratio("claude transcripts: load", size, median(loaded.ours), median(loaded.bare), null);
      bare.close();
    });
    stores.clear();
  }
}

function bareLines(path) {
  const file = openBare(path, "normal");
  file.exec("CREATE TABLE line (seq INTEGER PRIMARY KEY, uuid TEXT UNIQUE, json TEXT NOT NULL)");
  const insert = file.prepare("INSERT INTO line (uuid, json) VALUES (?, ?)");
  const append = file.transaction((lines) => {
    for (const line of lines) insert.run(line.uuid, JSON.stringify(line));
  });
  const all = file.prepare("SELECT json FROM line ORDER BY seq").pluck();
  return { append, load: () => all.all().map((json) => JSON.parse(json)), close: () => file.close() };
}

/** A turn is a question, a call, its result and an answer. */
function linesFrom(from, count) {
  return Array.from({ length: count }, (_, at) => line(from + at));
}

function* batchesFrom(first) {
  for (let from = first; ; from += BATCH) yield linesFrom(from, BATCH);
}

const uuid = (number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;

function line(number) {
  const parentUuid = number === 0 ? null : uuid(number - 1);
  const head = {
    parentUuid,
    isSidechain: false,
    userType: "external",
    cwd: "/home/ada/parser",
    sessionId: KEY.sessionId,
    version: "2.1.44",
  };
  const rest = { uuid: uuid(number), timestamp: new Date(1_767_225_600_000 + number * 1000).toISOString() };
  const [type, content] = contentOf(number);
  const reply = { id: `msg_${number}`, model: "claude-x", stop_reason: null, usage: { input_tokens: 900 + number, output_tokens: 40 } };
  return { ...head, type, message: { role: type, content, ...(type === "assistant" ? reply : {}) }, ...rest };
}

function contentOf(number) {
  const words = `the lexer counts a tab of line ${number} as one column; `.repeat(8);
  switch (number % 4) {
    case 0:
      return ["user", words];
    case 1:
      return ["assistant", [{ type: "tool_use", id: `c${number}`, name: "Read", input: { file_path: `/home/ada/parser/${number}.ts` } }]];
    case 2:
      return ["user", [{ type: "tool_result", tool_use_id: `c${number - 1}`, content: words.repeat(4) }]];
    default:
      return ["assistant", [{ type: "text", text: words }]];
  }
}
