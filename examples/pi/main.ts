// A session of pi-agent-core that is kept in a store. The answers are scripted, so that it runs without a key; an `AgentHarness` of pi takes
// the same session: `AgentHarness.create({ session: pi, models, model })`.
import { BoughSessionRepo } from "@bough/adapters/pi";
import { createCompactor } from "@bough/compaction";
import { openStore } from "@bough/session-core";
import { BACKGROUND_CONTEXT as here } from "@earendil-works/pi-agent-core/harness/context";
import type { Branch } from "@earendil-works/pi-agent-core/harness/session";

const answers = [
  "The lexer counts a tab as one column.",
  "Count up to the next multiple of eight.",
  "Replace tabs before the lexer sees them.",
];
const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.002 };
const usage = { input: 90, output: 10, cacheRead: 0, cacheWrite: 0, totalTokens: 100, cost };
const model = { api: "scripted", provider: "scripted", model: "scripted", usage, stopReason: "stop" } as const;

async function ask(branch: Branch, question: string): Promise<string> {
  const id = await branch.appendMessage({ role: "user", content: question, timestamp: Date.now() }, here);
  const text = answers.shift() ?? "";
  await branch.appendMessage({ role: "assistant", content: [{ type: "text", text }], ...model, timestamp: Date.now() }, here);
  return id;
}

const store = await openStore({ path: ":memory:" });
const repo = new BoughSessionRepo(store);
const pi = await repo.create({ id: "tabs" }, here);
const main = await pi.createBranch("main", null, here);

const source = Array.from({ length: 500 }, (_line, at) => `${at}: column += 1; // also for a tab`).join("\n");
await ask(main, `Why does the parser fail on tabs?\n${source}`);
const answer = await main.getTipId(here);
await ask(main, "How do I repair it?");

// Another branch from the first answer. For Bough it is a leaf of the same tree.
await ask(await pi.createBranch("other", answer, here), "Is there another way?");
await pi.setName("Tabs in the parser", here);

const bough = await store.openSession("tabs");
for (const { name, entryId } of await bough.leaves()) {
  const [row] = await bough.tree.path(entryId, 1);
  console.log(`${name}: ${row?.preview}`);
}
console.log(`found: ${(await store.search({ query: "multiple of eight" })).total}`);
console.log(`tokens: ${(await bough.statistics()).usage[0]?.inputTokens}`);

// A compaction by Bough is one of pi, with the messages that it keeps.
await createCompactor({ session: bough, contextWindow: 100_000, settings: { keep: { recentTokens: 20 } } }).compact();
const compaction = await main.findEntry({ type: "compaction" }, here);
if (compaction?.type === "compaction") {
  console.log(`after a compaction pi keeps: ${compaction.retainedTail.map(({ role }) => role).join(", ")}`);
  console.log(`its summary names the question: ${compaction.summary.includes("Why does the parser fail on tabs?")}`);
}

const fork = await repo.fork(pi.metadata, { scope: "tree" }, here);
console.log(`fork: ${await fork.getName(here)}, ${(await fork.getStats(here)).messageCount} messages`);
await repo.close(here);
await store.close();
