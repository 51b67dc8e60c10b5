// A process that writes without end, says what was acknowledged, and is killed. Arguments: store, session, name of this
// run. Every write ends with its newest entry as the leaf, so that the leaf tells how far it came.
import { writeSync } from "node:fs";
import { openStore, userMessage } from "@bough/session-core";

const [path, sessionId, run] = process.argv.slice(2);
writeSync(1, "opening\n");
const store = await openStore({ path });
const session = await store.openSession(sessionId);
const entry = (id, parentId) => ({
  kind: "entry",
  entry: { ...userMessage(`crash ${id} ${"text ".repeat(Number(id.length) % 7)}`), id },
  parentId,
});

for (let at = 0; ; at += 1) {
  const id = `${run}-${at}`;
  if (at % 5 === 4) {
    // All four of them, the label and the value, or nothing; on a branch of their own, one of them beside it.
    const batch = [0, 1, 2, 3].map((part) => entry(`${id}.${part}`, part === 1 ? `${run}-${at - 3}` : undefined));
    await session.write([
      { kind: "moveLeaf", to: `${run}-${at - 2}` },
      ...batch,
      { kind: "label", entryId: `${id}.0`, label: `batch ${id}` },
      // Some are so large that they lie in a table of their own.
      { kind: "value", key: `batch ${id}`, value: at % 3 === 0 ? "x".repeat(100_000) : at, ifEquals: undefined },
    ]);
    writeSync(1, `${id}.3\n`);
  } else {
    await session.write([entry(id)]);
    writeSync(1, `${id}\n`);
  }
}
