import { createCompactor } from "@bough/compaction";
import { openStore, userMessage } from "@bough/session-core";
import { expect, onTestFinished, test } from "vitest";
import { runNavigator, type WithVisited } from "../../src/navigator/visits.js";
import { quietIo } from "../quiet-io.js";
import { recordingTerminal } from "../tui/recording-terminal.js";
import { world } from "../world.js";

async function visiting(sessionId: string) {
  const { store: path, folder } = world();
  const store = await openStore({ path, durability: "normal" });
  onTestFinished(() => store.close());
  const parent = { sessionId: "origin", entryId: null, toolCallId: null };
  const fork = await store.createSession({ id: "fork", title: "The fork", parent });
  await fork.append(userMessage("Go on"));
  const { terminal, stdin, written } = recordingTerminal({ columns: 80, rows: 20 });
  const withVisited: WithVisited = async (id, work) => {
    const session = await store.openSession(id);
    const compactor = createCompactor({ session, contextWindow: 200_000 });
    onTestFinished(() => compactor.close());
    const io = quietIo(folder, {}, {});
    return work({ store, session, compactor: async () => compactor, io, rememberChoice: async () => undefined }, await session.record());
  };
  return { ended: runNavigator(terminal, withVisited, { sessionId }, {}), stdin, written };
}

test("a fork whose origin is not in the store says so, and stays", async () => {
  const { ended, stdin, written } = await visiting("fork");
  await written("Go on");
  stdin.write("\u007f");
  await written("That session is not in the store.");
  stdin.write("q");
  expect(await ended).toEqual({ sessionId: "fork", result: { kind: "closed" } });
});

test("a session that was deleted before it is shown is one that was deleted", async () => {
  const { ended } = await visiting("gone");
  expect(await ended).toEqual({ sessionId: "gone", result: { kind: "deleted" } });
});
