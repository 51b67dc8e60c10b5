// The LoCoMo set, which its licence keeps out of this repository: `node test/eval/locomo.mjs PATH/locomo10.json`. Each of its ten conversations
// is a store with a session for each day; each question is asked verbatim by one recallSearch. Prints how often a session that answers is
// the first, among the first five and ten sessions of the hits, how often an entry that answers is among the first ten hits, and the time.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { recallSearch } from "@bough/compaction";
import { openStore } from "@bough/session-core";
import { table } from "./table.mjs";

const CATEGORIES = { 1: "several places", 2: "time", 3: "open", 4: "one place", 5: "no answer" };
/** The hits of a question: more than ten, because several are of one session. */
const HITS = 50;

/** Asks the questions of one conversation in a store of its own. */
async function askConversation({ conversation, qa }) {
  const store = await openStore({ path: ":memory:" });
  try {
    const dialogs = await importConversation(store, conversation);
    await store.catchUpSearch();
    const answers = [];
    for (const { question, evidence, category } of qa) {
      // Some rows name several places in one text.
      const keys = evidence.join(" ").match(/D\d+:\d+/g) ?? [];
      if (keys.length === 0) continue;
      const start = performance.now();
      const { data } = await recallSearch(store, { query: question, limit: HITS }, { maxChars: 10_000_000 });
      const ms = performance.now() - start;
      const found = data.hits.map(({ entryId }) => dialogs.get(entryId) ?? "");
      answers.push({ kind: CATEGORIES[category] ?? "other", ms, ...placesOf(found, keys) });
    }
    return answers;
  } finally {
    await store.close();
  }
}

/** A session for each day; the speakers take turns, the first of them as the user. Returns the name of each entry's message. */
async function importConversation(store, conversation) {
  const dialogs = new Map();
  for (let day = 1; conversation[`session_${day}`] !== undefined; day += 1) {
    const session = await store.createSession();
    for (const { speaker, dia_id: name, text, blip_caption: caption } of conversation[`session_${day}`]) {
      const said = `${speaker}: ${text}${caption === undefined ? "" : ` [${caption}]`}`;
      const message =
        speaker === conversation.speaker_a
          ? { role: "user", content: said }
          : { role: "assistant", content: [{ type: "text", text: said }] };
      dialogs.set((await session.append({ type: "message", message })).id, name);
    }
  }
  return dialogs;
}

/** The places, from 1, of the first session and of the first message that answers; 0: none. */
function placesOf(found, keys) {
  const dayOf = (name) => name.split(":")[0];
  const days = [...new Set(found.map(dayOf))];
  const wanted = new Set(keys.map(dayOf));
  return { place: 1 + days.findIndex((day) => wanted.has(day)), exact: 1 + found.findIndex((name) => keys.includes(name)) };
}

function rowOf(title, answers) {
  const within = (of, most) => `${((100 * answers.filter((one) => one[of] >= 1 && one[of] <= most).length) / answers.length).toFixed(1)} %`;
  const median = answers.map(({ ms }) => ms).sort((a, b) => a - b)[Math.floor(answers.length / 2)];
  return [
    title,
    String(answers.length),
    within("place", 1),
    within("place", 5),
    within("place", 10),
    within("exact", 10),
    median.toFixed(1),
  ];
}

/** The conversations of the set. Ends the process with one line if the file is not there or is another one. */
function readConversations(path) {
  try {
    const all = JSON.parse(readFileSync(path, "utf8"));
    if (Array.isArray(all) && all.every(({ conversation, qa }) => conversation !== undefined && Array.isArray(qa))) return all;
    process.stderr.write(`${path} is not LoCoMo's locomo10.json: a list of conversations with their questions (qa).\n`);
  } catch (error) {
    process.stderr.write(`Cannot read ${path}: ${error.message}. Give the path of LoCoMo's locomo10.json.\n`);
  }
  process.exit(2);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = process.argv[2];
  if (path === undefined) {
    process.stderr.write("Usage: node test/eval/locomo.mjs PATH/locomo10.json\n");
    process.exitCode = 2;
  } else {
    const answers = [];
    for (const one of readConversations(path)) answers.push(...(await askConversation(one)));
    const kinds = [...new Set(answers.map(({ kind }) => kind))].sort();
    const rows = kinds.map((kind) =>
      rowOf(
        kind,
        answers.filter((one) => one.kind === kind),
      ),
    );
    const headings = ["questions", "asked", "first", "in 5", "in 10", "exact message in 10", "median ms"];
    process.stdout.write(`${table([headings, ...rows, rowOf("all", answers)])}\n`);
  }
}
