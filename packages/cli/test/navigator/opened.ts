import { createCompactor } from "@bough/compaction";
import { openStore, type Session, type Store } from "@bough/session-core";
import { onTestFinished } from "vitest";
import { type NavigatorPreferences, navigatorScreen } from "../../src/navigator/navigator.js";
import type { Io } from "../../src/terminal/io.js";
import { loadExactWidths } from "../../src/terminal/width.js";
import type { Size } from "../../src/tui/screen.js";
import { DrivenScreen } from "../tui/driven-screen.js";
import { grow, NOON, world } from "../world.js";

/** A navigator on a real store, and its store. */
export interface Opened {
  readonly store: Store;
  readonly session: Session;
  readonly folder: string;
  readonly remembered: number[];
  /** Opens the same store once more, as another process does. */
  readonly elsewhere: () => Promise<Store>;
  readonly driven: Awaited<ReturnType<typeof opened>>["driven"];
}

const USUAL: Size = { columns: 80, rows: 23 };

/**
 * A navigator that has read its session: `names` as `grow` takes them, or what `fill` makes of the store. Everything goes
 * away with the test.
 */
export async function opened(
  names: string | ((store: Store) => Promise<Session>),
  { size = USUAL, env = {}, ...preferences }: NavigatorPreferences & { readonly size?: Size; readonly env?: Record<string, string> } = {},
) {
  await loadExactWidths();
  const { folder, store: path } = world();
  const store = await openStore({ path, durability: "normal" });
  const session = typeof names === "string" ? await grow(store, "session-1", names, { title: "Parser" }) : await names(store);
  const compactor = createCompactor({ session, contextWindow: 200_000, now: () => NOON });
  const remembered: number[] = [];
  const io = { env, cwd: folder, home: folder, now: () => NOON, onEnd: () => () => undefined } as Partial<Io> as Io;
  const rememberChoice = async (choice: number) => {
    remembered.push(choice);
  };
  const driven = new DrivenScreen(
    navigatorScreen({ store, session, compactor: async () => compactor, io, rememberChoice }, await session.record(), preferences),
    size,
  );
  onTestFinished(async () => {
    driven.close();
    await compactor.close();
    await store.close();
  });
  await driven.until(({ tree }) => tree !== undefined);
  return { store, session, folder, remembered, elsewhere: () => openedAgain(path), driven };
}

async function openedAgain(path: string): Promise<Store> {
  const store = await openStore({ path, durability: "normal" });
  onTestFinished(() => store.close());
  return store;
}

/** The id of the selected entry. */
export function selected({ model }: Opened["driven"]): string | undefined {
  return model.tree?.index.idOf(model.selected);
}
