import { openStore } from "@bough/session-core";
import { openBare } from "./baseline.mjs";
import { withBare } from "./context.mjs";
import { alternate, median, timed } from "./measure.mjs";
import { withStore } from "./stores.mjs";
import { QUERIES } from "./words.mjs";
import { messages } from "./world.mjs";

export const title = "search";

const NEW_ENTRIES = 1000;

export async function run(bench) {
  const made = await bench.stores.ofSessions(...bench.manySessions);
  const size = `${made.sessions} of ${bench.manySessions[1]}`;
  await warm(bench, made, size);
  await questions(bench, made, size);
  await parts(bench, made, size);
  await afterNewEntries(bench, made, size);
  await withoutIndex(bench, made, size);
  await indexing(bench, made, size);
}

/** Bare: the best 20 of FTS5 with their rows, no count of all, no snippet. */
const BARE = `SELECT entry.* FROM (SELECT rowid, rank FROM entry_text WHERE entry_text MATCH ? ORDER BY rank LIMIT 20) AS hit
  JOIN entry ON entry.seq = hit.rowid ORDER BY hit.rank`;

async function warm({ report, rounds }, { path }, size) {
  await withBare({ path }, async (store, file) => {
    const bare = file.prepare(BARE);
    const asked = async (query, count) =>
      alternate({ ours: { run: () => store.search({ query }) }, baseline: { run: () => bare.all(query) } }, { rounds: rounds(count) });
    const all = { ours: [], baseline: [] };
    const slowest = { query: "", ms: 0 };
    for (const query of QUERIES.usual) {
      if ((await store.search({ query })).total === 0) throw new Error(`nothing is found for ${query}`);
      const { ours, baseline } = await asked(query, 20);
      all.ours.push(...ours);
      all.baseline.push(...baseline);
      if (median(ours) > slowest.ms) Object.assign(slowest, { query, ms: median(ours) });
    }
    const note = `${QUERIES.usual.length} queries: words, a pair, a phrase, a prefix; the slowest, ${slowest.query}: ${slowest.ms.toFixed(1)} ms`;
    report.absolute("search, index warm", size, median(all.ours), 15, { baseline: median(all.baseline), note });
    const common = await asked(QUERIES.mostCommon, 5);
    report.absolute("search for the most common word", size, median(common.ours), null, { baseline: median(common.baseline) });
  });
}

/** The days of a long conversation, and the messages of each. */
const CONVERSATION = [25, 24];

/** A question: its words in any form, ranked with the entries around. In many sessions, in one large session, and in the days of a conversation. */
async function questions(bench, made, size) {
  const largest = Math.max(...bench.sizes);
  await question(bench, made, size, 25);
  await question(bench, await bench.stores.ofSize(largest), largest, 25);
  await question(bench, await bench.stores.ofSessions(...CONVERSATION), CONVERSATION.join(" of "), 5);
}

async function question({ report, rounds }, { path }, size, limit) {
  await withStore({ path, durability: "normal" }, async (store) => {
    await store.catchUpSearch();
    const [first, second] = QUERIES.usual;
    const plain = `why did the ${first} of the ${second} fail when it was parsed?`;
    const misspelt = plain.replace(first, `${first.slice(0, -2)}${first.at(-1)}${first.at(-2)}`);
    const ask = async (work, query, most) => {
      const run = () => store.search({ query, relax: true });
      if ((await run()).matched.kind !== "ranked") throw new Error(`${query} is no question`);
      const { ours } = await alternate({ ours: { run } }, { rounds: rounds(20), warmUp: 3 });
      report.absolute(work, size, median(ours), most);
    };
    await ask("search for a question", plain, limit);
    await ask("search for a question with a misspelt word", misspelt, null);
  });
}

/** What whole words do not find; and the list of words that parts are looked up in. */
async function parts({ report, rounds }, { path, payloadBytes }, size) {
  const word = QUERIES.usual[0];
  await withBare({ path }, async (store, file) => {
    const asked = {
      "search for a part of a word": [word.slice(2, -2), 30],
      "search for a literal text with words": [`${word}.`.repeat(2), 60],
      "search with an expression that has a word": [`/${word}\\w*/`, 300],
      "search for an emoji, in every payload": ["👍", null],
    };
    for (const [work, [query, limit]] of Object.entries(asked)) {
      const { ours } = await alternate({ ours: { run: () => store.search({ query }) } }, { rounds: rounds(9), warmUp: 1 });
      report.absolute(work, size, median(ours), limit);
    }
    const bytes = file.prepare("SELECT sum(pgsize) FROM dbstat WHERE name = 'word'").pluck().get();
    report.quotient("list of words for parts of words", size, bytes / 1e6, payloadBytes / 1e6, 0.1, "MB");
  });
}

/** The search after a thousand appends scans them. */
async function afterNewEntries({ report, stores, rounds }, made, size) {
  const { path } = stores.copy(made);
  await withStore({ path, durability: "normal" }, async (store) => {
    const session = await store.createSession();
    const script = messages(41);
    const prepare = () =>
      session.write(
        Array.from({ length: NEW_ENTRIES }, () => ({ kind: "entry", entry: { type: "message", message: script.next().value } })),
      );
    const run = () => store.search({ query: QUERIES.usual[0] });
    const { ours } = await alternate({ ours: { prepare, run } }, { rounds: rounds(9), warmUp: 1 });
    report.absolute(`search after ${NEW_ENTRIES.toLocaleString("en-US")} new entries`, size, median(ours), 150);
  });
}

/**
 * The first search of a store in which nobody has indexed anything, by a handle that is opened for it. Bare: a pattern on the JSON of
 * every payload. Then what closing the handle costs, which indexes for a limited time.
 */
async function withoutIndex({ report, stores, rounds }, made, size) {
  const { path } = stores.copy(made);
  const file = openBare(path, "normal");
  file.exec("INSERT INTO entry_text (entry_text) VALUES ('delete-all'); UPDATE store_state SET indexed_seq = 0");
  const payloads = file.prepare("SELECT json FROM payload").pluck();
  for (const [word, limit] of [
    [QUERIES.usual[0], 300],
    [QUERIES.mostCommon, null],
  ]) {
    const search = async () => {
      const store = await openStore({ path, durability: "normal" });
      const { total } = await store.search({ query: word });
      if (total === 0) throw new Error(`nothing is found for ${word}`);
      // Not `store.close()`, which indexes: the next round needs the same store.
      await store.storage.close();
    };
    const scan = () => payloads.all().filter((json) => new RegExp(word, "i").test(json)).length;
    const { ours, baseline } = await alternate({ ours: { run: search }, baseline: { run: scan } }, { rounds: rounds(9), warmUp: 1 });
    const what = limit === null ? "the same for the most common word" : "first search of entries that nobody indexed";
    report.absolute(what, size, median(ours), limit, { baseline: median(baseline) });
  }
  file.close();
  await closing({ report, rounds }, path, size);
}

async function closing({ report, rounds }, path, size) {
  const times = [];
  for (let round = 0; round < rounds(5); round++) {
    const store = await openStore({ path, durability: "normal" });
    await store.search({ query: QUERIES.usual[0] });
    times.push(await timed(() => store.close()));
  }
  report.absolute("closing the handle behind that search", size, median(times), 200);
}

/** Indexes all entries into an empty index, compared with only inserting the prepared texts. */
async function indexing({ report, stores }, made, size) {
  const megabytes = made.payloadBytes / 1e6;
  const { path } = stores.copy(made);
  const bareMs = await withBare({ path, durability: "normal" }, async (_store, file) => {
    const texts = file.prepare("SELECT entry_seq AS seq, json AS body FROM payload").all().map(textRow);
    file.exec("DELETE FROM entry_text");
    const insert = file.prepare("INSERT INTO entry_text (rowid, body) VALUES (@seq, @body)");
    const batch = file.transaction((rows) => rows.forEach((row) => void insert.run(row)));
    return timed(() => {
      for (let at = 0; at < texts.length; at += 500) batch.immediate(texts.slice(at, at + 500));
    });
  });
  const note = `${(made.indexMs / made.entryCount).toFixed(3)} ms an entry; ${megabytes.toFixed(0)} MB of payload`;
  report.absolute("filling the search index from nothing", size, megabytes / (made.indexMs / 1000), null, {
    unit: "MB/s",
    baseline: megabytes / (bareMs / 1000),
    note,
  });
}

function textRow({ seq, body }) {
  const { message } = JSON.parse(body);
  const blocks = typeof message?.content === "string" ? [{ text: message.content }] : (message?.content ?? []);
  const texts = blocks.flatMap((block) => [block.text, block.name, ...Object.values(block.arguments ?? {}).flatMap(editTexts)]);
  return { seq, body: texts.filter((text) => typeof text === "string").join("\n") };
}

function editTexts(argument) {
  return Array.isArray(argument) ? argument.flatMap(Object.values) : [argument];
}
