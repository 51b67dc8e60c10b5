import { recallSearch, searchHidden } from "@bough/compaction";
import { alternate, median } from "./measure.mjs";
import { withStore } from "./stores.mjs";
import { QUERIES } from "./words.mjs";

export const title = "recall";

/** Where an answer has to come within this, a person or a model does not notice it; in milliseconds. */
const LIMIT = 300;

/** One call of recall in a session whose entries a compaction has hidden, index warm. */
export async function run({ report, stores, sizes, rounds }) {
  for (const size of sizes) {
    const { path, sessionId } = stores.copy(await stores.ofSize(size));
    await withStore({ path, durability: "normal" }, async (store) => {
      await store.catchUpSearch();
      const session = await store.openSession(sessionId);
      await session.append({ type: "compaction", summary: "All of it.", firstKeptEntryId: null });
      const [rare = "parser", second = "error"] = QUERIES.usual.filter((query) => /^[a-z]{4,}$/.test(query));
      const asked = {
        "recall, one word": () => searchHidden(session, { query: rare }),
        "recall, a question of six words": () => searchHidden(session, { query: `${rare} ${second} parser error file test` }),
        "recall, a spelling mistake": () => searchHidden(session, { query: `${rare.slice(0, -2)}${rare.at(-1)}${rare.at(-2)}q` }),
        "recall of the whole session, with the entries around": () => recallSearch(session, { query: rare, around: 2 }),
        "recall by role, without words": () => recallSearch(session, { roles: ["user"] }),
      };
      // The outline of the session is read once for each handle.
      await asked["recall, one word"]();
      for (const [name, call] of Object.entries(asked)) {
        const { ours } = await alternate({ ours: { run: call } }, { rounds: rounds(9), warmUp: 1 });
        report.absolute(name, size, median(ours), name.includes("six words") ? null : LIMIT);
      }
    });
  }
}
