import { createCompactor } from "@bough/compaction";
import { openStore, type Session, type Store } from "@bough/session-core";
import { onTestFinished } from "vitest";
import type { ChatModel } from "../../src/agent/chat-model.js";
import { runCaptured } from "../../src/interactive/routes.js";
import { run } from "../../src/run.js";
import { type ShellStart, shellScreen } from "../../src/shell/shell.js";
import type { ShellWorld } from "../../src/shell/world.js";
import { loadExactWidths } from "../../src/terminal/width.js";
import type { Size } from "../../src/tui/screen.js";
import { quietIo } from "../quiet-io.js";
import { DrivenScreen } from "../tui/driven-screen.js";
import { grow, NOON, world } from "../world.js";

/** How a shell is opened. */
export interface Opening extends ShellStart {
  readonly size?: Size;
  readonly model?: ChatModel | null;
  readonly env?: Readonly<Record<string, string>>;
}

/** A shell on a real store that has read its session; everything goes away with the test. */
export async function opened(names: string, { size = { columns: 80, rows: 23 }, model = null, env = {}, ...start }: Opening = {}) {
  await loadExactWidths();
  const { folder, store: path } = world();
  const store: Store = await openStore({ path, durability: "normal" });
  const session: Session =
    names === ""
      ? await store.createSession({ id: "session-1", cwd: folder })
      : await grow(store, "session-1", names, { title: "Parser", cwd: folder });
  const compactor = createCompactor({ session, contextWindow: 200_000, now: () => NOON });
  const io = quietIo(folder, { isTerminal: false, columns: size.columns }, { env, now: () => NOON, bough: run });
  const shell: ShellWorld = {
    store,
    session,
    record: await session.record(),
    compactor,
    io,
    config: {},
    configPath: `${folder}/config.json`,
    model,
    onBackground: () => undefined,
    selectModel: () => null,
    hideKey: () => null,
    runCommand: (args) => runCaptured(io, path, args),
  };
  const driven = new DrivenScreen(shellScreen(shell, start), size);
  onTestFinished(async () => {
    driven.close();
    await compactor.close();
    await store.close();
  });
  await driven.until(({ status }) => status.usedTokens !== null);
  return { store, session, folder, driven };
}
