import { createCompactor } from "@bough/compaction";
import { planCompaction } from "@bough/compaction/planning";
import { alternate, median } from "./measure.mjs";
import { withStore } from "./stores.mjs";
import { messages } from "./world.mjs";

export const title = "compaction";

// A window in which nothing has to be done: the check itself is measured.
const WINDOW = 10_000_000_000;

export async function run(bench) {
  await check(bench, "a compacted session", (stores, size) => stores.ofSize(size));
  await check(bench, "a session that never was", (stores, size) => stores.uncompacted(size));
  plan(bench);
}

/** What every model call costs: one entry was appended, and the threshold is looked at. Counts are cached by then. */
async function check({ report, stores, sizes, rounds }, what, make) {
  const size = sizes.filter((one) => one <= 100_000).at(-1);
  const { path, sessionId } = stores.copy(await make(stores, size));
  await withStore({ path }, async (store) => {
    const session = await store.openSession(sessionId);
    const compactor = createCompactor({ session, contextWindow: WINDOW, settings: { request: { toolResultShare: 0 } } });
    const script = messages(77);
    const prepare = () => session.append({ type: "message", message: script.next().value });
    const { ours } = await alternate({ ours: { prepare, run: () => compactor.prepareRequest() } }, { rounds: rounds(100) });
    await compactor.close();
    report.absolute(`threshold check after an append, ${what}`, size, median(ours), 5);
  });
}

/** The pure decision what to summarise and what to keep. */
function plan({ report, quick }) {
  const size = 2_000;
  const items = itemsOf(size);
  const keep = { by: "tokens", tokens: 20_000, wholeTurnTokens: 0 };
  const times = [];
  for (let round = 0; round < (quick ? 10 : 100); round++) {
    const start = performance.now();
    planCompaction({ items, keep, minMessages: 4, inForce: null });
    times.push(performance.now() - start);
  }
  report.absolute("planning a compaction", size, median(times), 20);
}

function itemsOf(size) {
  const script = messages(78);
  return Array.from({ length: size }, (_one, at) => ({ id: `e${at}`, type: "message", messages: [script.next().value], tokens: 200 }));
}
