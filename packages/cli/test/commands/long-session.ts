import { assistantMessage, type EntryInput, type Session, toolResult, userMessage } from "@bough/session-core";
import { NOON, type World, world } from "../world.js";

/** What makes a message long enough that a summary of some is shorter than they are: about 190 tokens. */
const PROSE =
  "The lexer reads the file from its beginning, and wherever a line starts with tabs it counts columns by the width of the tab. ".repeat(8);

/** Turns of a long session. */
export const TURNS = 10;

/**
 * Appends turns of four messages, each over 190 tokens long but the calls: what the user asks, a call that reads
 * `src/part-N.ts`, its result, and an answer. Entry ids are `uN cN rN aN`. One transaction.
 */
async function appendTurns(session: Session, from: number, to: number): Promise<void> {
  const entries: EntryInput[] = [];
  for (let turn = from; turn <= to; turn += 1) {
    const call = { type: "toolCall", id: `call-${turn}`, name: "read", arguments: { path: `src/part-${turn}.ts` } } as const;
    const at = (step: number) => ({ createdAtMs: NOON - 3_000_000 + turn * 10_000 + step });
    entries.push({ ...userMessage(`Please mend part ${turn}; never touch src/lexer.ts. ${PROSE}`), id: `u${turn}`, ...at(0) });
    entries.push({ ...assistantMessage([call]), id: `c${turn}`, ...at(1) });
    entries.push({ ...toolResult(`call-${turn}`, `part ${turn}: ${PROSE}`), id: `r${turn}`, ...at(2) });
    entries.push({ ...assistantMessage(`Part ${turn} is mended. ${PROSE}`), id: `a${turn}`, ...at(3) });
  }
  await session.write(entries.map((entry) => ({ kind: "entry", entry })));
}

/** A session "Long" with the id `long-session` and ten turns in a world's store; `model`: its path names one. */
export async function longSession(at: World, model?: string): Promise<void> {
  await at.withStore(async (store) => {
    const session = await store.createSession({ id: "long-session", title: "Long", createdAtMs: NOON - 3_600_000 });
    if (model !== undefined) await session.append({ type: "model_change", modelId: model, id: "model" });
    await appendTurns(session, 1, TURNS);
  });
}

/** Three more turns at its leaf. */
export async function goOn(at: World): Promise<void> {
  await at.withStore(async (store) => appendTurns(await store.openSession("long-session"), TURNS + 1, TURNS + 3));
}

/** Where its leaf stands, and how many entries it has. */
export async function standOf(at: World): Promise<{ readonly leafId: unknown; readonly entries: number }> {
  const { leafId, entries } = (await at.json("tree", "long-session")) as { readonly leafId: unknown; readonly entries: readonly unknown[] };
  return { leafId, entries: entries.length };
}

/** The messages that a model would be sent. */
export async function messagesOf(at: World): Promise<readonly { readonly role: string }[]> {
  return ((await at.json("context", "long-session")) as { readonly messages: readonly { readonly role: string }[] }).messages;
}

/** The leaf of such a session, and the number of its entries. */
export const BEFORE = { leafId: `a${TURNS}`, entries: TURNS * 4 };

/** A world whose store has a long session. */
export async function withLongSession(model?: string): Promise<World> {
  const here = world();
  await longSession(here, model);
  return here;
}
