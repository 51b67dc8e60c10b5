// The adapters of frameworks with names, lines and items that no framework makes by itself, and with several handles at once: what was accepted comes
// back, what is refused is refused with an error of Bough, and the store is whole.
import { isDeepStrictEqual } from "node:util";
import { BoughSessionStore } from "@bough/adapters/claude-agent-sdk";
import { BoughSaver } from "@bough/adapters/langgraph";
import { BoughSession } from "@bough/adapters/openai-agents";
import { openStore } from "@bough/session-core";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { typed, violationsIn } from "../check-store.mjs";

const NAMES = [
  "constructor",
  "toString",
  "__proto__",
  "valueOf",
  "a",
  "x".repeat(300),
  "ü/日本 ",
  "\ud800",
  "\udc00b",
  "\u0000",
  " ",
  "a\nb",
];
const LINES = [
  null,
  1,
  "text",
  [],
  {},
  { type: "user" },
  { type: "\ud800", uuid: "u" },
  { uuid: 3 },
  { type: "user", uuid: "u", message: "no message" },
];

export async function adapters(attack) {
  while (attack.hasTime()) {
    const store = await openStore({ path: ":memory:" });
    await graph(attack, store);
    await transcripts(attack, store);
    await items(attack, store);
    for (const finding of await violationsIn(store)) attack.finding(finding);
    attack.count("stores");
    await store.close();
  }
}

/** Checkpoints of threads and channels with odd names. */
async function graph(attack, store) {
  const saver = new BoughSaver(store);
  const kept = new Map();
  for (let n = 0; n < 12; n += 1) {
    const [thread, channel, write] = [attack.random.pick(NAMES), attack.random.pick(NAMES), attack.random.pick(NAMES)];
    const checkpoint = { ...emptyCheckpoint(), id: `1ef00000-0000-6000-8000-${String(n).padStart(12, "0")}` };
    checkpoint.channel_values = Object.fromEntries([[channel, n]]);
    checkpoint.channel_versions = Object.fromEntries([[channel, n + 1]]);
    await typed(attack, `put of ${JSON.stringify([thread, channel])}`, async () => {
      const config = await saver.put(
        { configurable: { thread_id: thread } },
        checkpoint,
        { source: "loop", step: n, parents: {} },
        { ...checkpoint.channel_versions },
      );
      await saver.putWrites(config, [[write, n]], "task");
      kept.set(thread, { channel, n, write });
    });
    attack.count("checkpoints");
  }
  for (const [thread, { channel, n, write }] of kept) {
    const tuple = await new BoughSaver(store).getTuple({ configurable: { thread_id: thread } });
    const found = [Object.entries(tuple?.checkpoint.channel_values ?? {}), tuple?.pendingWrites];
    if (!isDeepStrictEqual(found, [[[channel, n]], [["task", write, n]]]))
      attack.finding(`thread ${JSON.stringify(thread)}: ${JSON.stringify(found)}, not ${channel} = ${n}`);
  }
}

/** Lines of transcripts, of two projects with a session of the same id. */
async function transcripts(attack, store) {
  const sessions = new BoughSessionStore(store);
  const kept = new Map();
  for (let n = 0; n < 16; n += 1) {
    const key = { projectKey: attack.random.pick(["one", "two"]), sessionId: "11111111-2222-4333-8444-555555555555" };
    const line = attack.random.chance(0.5)
      ? attack.random.pick(LINES)
      : { type: "user", uuid: `u${n}`, message: { role: "user", content: `${n}` } };
    if (attack.random.chance(0.1)) {
      await sessions.delete(key);
      kept.delete(key.projectKey);
    }
    await typed(attack, `append of ${JSON.stringify(line)}`, async () => {
      // A line that was there is not appended again.
      if (kept.get(key.projectKey)?.some((known) => isDeepStrictEqual(known, line))) return;
      await sessions.append(key, [line]);
      kept.set(key.projectKey, [...(kept.get(key.projectKey) ?? []), line]);
    });
    attack.count("lines");
  }
  for (const [projectKey, lines] of kept) {
    const loaded = await new BoughSessionStore(store).load({ projectKey, sessionId: "11111111-2222-4333-8444-555555555555" });
    if (!isDeepStrictEqual(loaded, lines)) attack.finding(`project ${projectKey}: ${JSON.stringify(loaded)}, not ${JSON.stringify(lines)}`);
  }
}

/** Items that six handles add and take at once. */
async function items(attack, store) {
  const handles = Array.from({ length: 6 }, () => new BoughSession(store, { id: "items" }));
  const user = (text) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] });
  const given = Array.from({ length: 20 }, (_item, n) => user(`item ${n}`));
  await handles[0].addItems(given);
  for (const odd of [undefined, null, 1, [], { type: "\ud800" }])
    await typed(attack, `item ${JSON.stringify(odd)}`, () => handles[1].addItems([odd]));
  const all = await handles[2].getItems();
  const count = 1 + attack.random.below(20);
  const popped = await Promise.all(Array.from({ length: count }, (_item, n) => handles[n % 6].popItem()));
  const texts = new Set(popped.map((item) => JSON.stringify(item)));
  if (texts.size !== count) attack.finding(`${count} items taken at once are ${texts.size}`);
  const left = await handles[3].getItems();
  if (!isDeepStrictEqual(left, all.slice(0, all.length - count))) attack.finding(`${all.length} less ${count} items are ${left.length}`);
  attack.count("items", count);
}
