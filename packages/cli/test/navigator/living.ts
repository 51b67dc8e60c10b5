import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCompactor } from "@bough/compaction";
import { openStore, type Session, type Store } from "@bough/session-core";
import { expect, onTestFinished } from "vitest";
import type { NavigatorEffect, NavigatorModel } from "../../src/navigator/model.js";
import { type NavigatorScreen, navigatorScreen } from "../../src/navigator/navigator.js";
import { selectedId, visibleCount } from "../../src/navigator/selection.js";
import { textOfLine } from "../../src/terminal/line.js";
import type { Performer } from "../../src/tui/screen.js";
import { quietIo } from "../quiet-io.js";
import { grow, NOON } from "../world.js";
import { keyEvent } from "./driven.js";

interface Opened {
  readonly store: Store;
  readonly session: Session;
}

/** A navigator on a real store; what it asks for is carried out. */
export class Living {
  readonly screen: NavigatorScreen;
  readonly performer: Performer<NavigatorEffect>;
  readonly copied: string[] = [];
  /** The kinds of the events so far. */
  readonly received: string[] = [];
  model: NavigatorModel;
  #waiting: (() => void)[] = [];

  readonly store: Store;
  readonly session: Session;
  readonly folder: string;
  /** The store and the session as another process has them. */
  readonly elsewhere: Store;
  readonly other: Session;

  constructor(folder: string, here: Opened, elsewhere: Opened, record: Awaited<ReturnType<Session["record"]>>) {
    const { store, session } = here;
    this.store = store;
    this.session = session;
    this.folder = folder;
    this.elsewhere = elsewhere.store;
    this.other = elsewhere.session;

    const compactor = createCompactor({ session, contextWindow: 200_000 });
    onTestFinished(() => compactor.close());
    this.screen = navigatorScreen(
      {
        store,
        session,
        compactor: async () => compactor,
        io: quietIo(folder, { color: true, columns: 100 }, { now: () => NOON }),
        rememberChoice: async () => undefined,
      },
      record,
      {},
    );
    this.performer = this.screen.performer({
      dispatch: (event) => this.#event(event),
      print: () => undefined,
      copy: (text) => this.copied.push(text),
    });
    const step = this.screen.start({ columns: 100, rows: 24 });
    this.model = step.model;
    this.#perform(step.effects);
    onTestFinished(() => this.performer.end());
  }

  press(...keys: readonly string[]): this {
    for (const key of keys) this.#event(keyEvent(key));
    return this;
  }

  type(text: string): this {
    return this.press(...text);
  }

  /** Selects an entry as a person does: row by row. */
  select(id: string): this {
    this.press("g");
    for (let row = 0; row < visibleCount(this.model) && selectedId(this.model) !== id; row += 1) this.press("j");
    expect(selectedId(this.model)).toBe(id);
    return this;
  }

  /** Waits for events until the condition holds. */
  async until(holds: (model: NavigatorModel) => boolean): Promise<this> {
    while (!holds(this.model)) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this;
  }

  async notice(): Promise<string> {
    await this.until(({ notice }) => notice !== null);
    return this.model.notice?.text ?? "";
  }

  get text(): string {
    return this.screen
      .view(this.model)
      .lines.map(({ line }) => textOfLine(line).trimEnd())
      .join("\n");
  }

  #event(event: Parameters<NavigatorScreen["update"]>[1]): void {
    this.received.push(event.kind);
    const { model, effects } = this.screen.update(this.model, event);
    this.model = model;
    this.#perform(effects);
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #perform(effects: readonly NavigatorEffect[]): void {
    for (const effect of effects) this.performer.perform(effect);
  }
}

/** `user1 asst1`, then `user2 asst2` and, with the leaf at its end, `user3 call3 res3 asst3`. */
const BRANCHES = "user1 asst1 user2 asst2 <asst1 user3 call3 res3 asst3";

/** A navigator that has read its session `id`, grown from `names` (`grow`). */
export async function opened(names = BRANCHES, id = "parser-session"): Promise<Living> {
  const folder = mkdtempSync(join(tmpdir(), "bough-navigator-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [store, elsewhere] = [await openAt(folder), await openAt(folder)];
  const other = await grow(elsewhere, id, names, { title: "Parser" });
  const session = await store.openSession(id);
  return new Living(folder, { store, session }, { store: elsewhere, session: other }, await session.record()).until(
    ({ tree }) => tree !== undefined,
  );
}

async function openAt(folder: string): Promise<Store> {
  const store = await openStore({ path: join(folder, "sessions.db"), durability: "normal" });
  onTestFinished(() => store.close());
  return store;
}
