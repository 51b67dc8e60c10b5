import { openStore, userMessage } from "@bough/session-core";
import { violationsIn } from "../check-store.mjs";

/** Random appends, moves, undos, edits and compactions by two handles against a model of the tree. */
export async function tree(attack) {
  while (attack.hasTime()) {
    const store = await openStore({ path: ":memory:" });
    const session = await store.createSession({ id: "s" });
    const model = { parents: new Map(), leaf: null };
    for (let at = 0; at < 120; at += 1) await step(attack, session, model, at);
    const path = (await session.path()).map(({ id }) => id);
    if (path.join() !== pathOf(model, model.leaf).join()) attack.finding(`the path is ${path} and not ${pathOf(model, model.leaf)}`);
    const fresh = await (await store.openSession("s")).context();
    if (JSON.stringify(fresh) !== JSON.stringify(await session.context())) attack.finding("a cached context differs from a fresh one");
    for (const finding of await violationsIn(store)) attack.finding(finding);
    attack.count("trees");
    await store.close();
  }
}

async function step(attack, session, model, at) {
  const { random } = attack;
  const ids = [...model.parents.keys()];
  const chosen = random.pick(ids) ?? null;
  const id = `e${at}`;
  attack.count("operations");
  if (ids.length > 0 && random.chance(0.2)) {
    await session.moveLeaf(chosen);
    model.leaf = chosen;
    return;
  }
  const above = pathOf(model, model.leaf);
  const entry =
    chosen === null || random.chance(0.7)
      ? userMessage(id)
      : random.chance(0.5)
        ? { type: "context_edit", targetId: chosen, replacement: null }
        : { type: "compaction", summary: id, firstKeptEntryId: chosen };
  const refused = entry.type !== "message" && !above.includes(chosen);
  const outcome = await session.append({ ...entry, id }).then(
    () => "written",
    (error) => error.code ?? String(error),
  );
  if (outcome !== (refused ? "INVALID_REFERENCE" : "written")) attack.finding(`${entry.type} at ${chosen}: ${outcome}`);
  if (outcome !== "written") return;
  model.parents.set(id, model.leaf);
  model.leaf = id;
}

function pathOf({ parents }, leaf) {
  const path = [];
  for (let id = leaf; id !== null; id = parents.get(id) ?? null) path.unshift(id);
  return path;
}
