import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCompactor } from "@bough/compaction";
import { type Message, openStore, type Session, type Store } from "@bough/session-core";
import { onTestFinished } from "vitest";
import { type ModelServer, startModelServer } from "../../../compaction/test/model/model-server.js";
import { chooseChatModel } from "../../src/agent/chat-model.js";
import type { Config } from "../../src/config/schema.js";
import { runCaptured } from "../../src/interactive/routes.js";
import { run } from "../../src/run.js";
import type { ShellEffect, ShellEvent, ShellModel } from "../../src/shell/model.js";
import { type ShellStart, shellScreen } from "../../src/shell/shell.js";
import { textOfLine } from "../../src/terminal/line.js";
import { loadExactWidths } from "../../src/terminal/width.js";
import type { Performer, Size, TerminalEvent } from "../../src/tui/screen.js";
import { quietIo } from "../quiet-io.js";
import { NOON } from "../world.js";

/** How a shell of a test differs from a notebook of 80 × 24 on an empty session. */
export interface ShellCase {
  readonly size?: Size;
  readonly config?: Config;
  /** A model answers, on this machine. */
  readonly hasModel?: boolean;
  /** The warning about the key of a chosen model; null: no command can read it. */
  readonly keyWarning?: string | null;
  readonly start?: ShellStart;
  /** Put into the session before the shell opens. */
  readonly before?: (session: Session, store: Store) => Promise<unknown>;
}

/** A shell on a store of its own, driven by keys. Effects are carried out at once, as the runner does it. */
export class DrivenShell {
  model: ShellModel;
  readonly printed: string[] = [];
  readonly effects: ShellEffect[] = [];
  #listeners: (() => void)[] = [];
  /** What waits for a moment to pass, in which no key comes. */
  #moments: (() => void)[] = [];

  readonly folder: string;
  readonly store: Store;
  readonly session: Session;
  readonly server: ModelServer;
  readonly #screen: ReturnType<typeof shellScreen>;
  readonly #performer: Performer<ShellEffect>;

  private constructor(
    folder: string,
    store: Store,
    session: Session,
    server: ModelServer,
    screen: ReturnType<typeof shellScreen>,
    size: Size,
  ) {
    this.folder = folder;
    this.store = store;
    this.session = session;
    this.server = server;
    this.#screen = screen;
    this.#performer = screen.performer({
      dispatch: (event) => void this.event(event),
      print: (lines) => {
        for (const line of lines) this.printed.push(textOfLine(line).trimEnd());
      },
      copy: () => undefined,
    });
    const { model, effects } = screen.start(size);
    this.model = model;
    this.#perform(effects);
  }

  static async open({
    size = { columns: 80, rows: 24 },
    config = {},
    hasModel = false,
    start = {},
    before,
    keyWarning = null,
  }: ShellCase = {}) {
    await loadExactWidths();
    const folder = mkdtempSync(join(tmpdir(), "bough-shell-"));
    const path = join(folder, "sessions.db");
    const store = await openStore({ path, durability: "normal" });
    const session = await store.createSession({ id: "talk", title: "Talk", cwd: folder });
    await before?.(session, store);
    const server = await startModelServer();
    const io = quietIo(folder, { columns: size.columns }, { now: () => NOON, bough: run });
    const compactor = createCompactor({ session, contextWindow: 100_000 });
    const moments: (() => void)[] = [];
    const screen = shellScreen(
      {
        startAnswerDelay: (then) => {
          moments.push(then);
          return () => void moments.splice(moments.indexOf(then), 1);
        },
        store,
        session,
        record: await session.record(),
        compactor,
        io,
        config,
        configPath: join(folder, "config.json"),
        model: hasModel ? chooseChatModel({}, {}, { model: "test-model", baseUrl: server.baseURL }) : null,
        onBackground: () => undefined,
        selectModel: (name) => chooseChatModel({}, {}, { model: name, baseUrl: server.baseURL }),
        hideKey: () => keyWarning,
        runCommand: (args) => runCaptured(io, path, args),
      },
      start,
    );
    onTestFinished(async () => {
      await compactor.close();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const driven = new DrivenShell(folder, store, session, server, screen, size);
    onTestFinished(() => driven.#performer.end());
    driven.#moments = moments;
    await driven.until(() => driven.model.status.usedTokens !== null);
    return driven;
  }

  event(event: TerminalEvent | ShellEvent): this {
    const { model, effects } = this.#screen.update(this.model, event);
    this.model = model;
    this.#perform(effects);
    for (const listener of this.#listeners.splice(0)) listener();
    return this;
  }

  /** Presses keys by name; a single character is typed. */
  press(...keys: readonly string[]): this {
    for (const key of keys) this.event({ kind: "key", key, ...([...key].length === 1 ? { text: key } : {}) });
    return this;
  }

  type(text: string): this {
    return this.press(...[...text].map((one) => (one === "\n" ? "alt+enter" : one)));
  }

  /** Types a line and sends it. */
  enter(line: string): this {
    return this.type(line).press("enter");
  }

  /** Lets a moment pass without a key. */
  moment(): this {
    for (const passed of this.#moments.splice(0)) passed();
    return this;
  }

  /** Waits for events until a condition holds. */
  async until(holds: () => boolean): Promise<this> {
    while (!holds()) await new Promise<void>((resolve) => this.#listeners.push(resolve));
    return this;
  }

  /** The screen as text, without the spaces at the end of lines. */
  get shown(): string {
    const { lines } = this.#screen.view(this.model);
    return lines.map(({ line }) => textOfLine(line).trimEnd()).join("\n");
  }

  get frame() {
    return this.#screen.view(this.model);
  }

  get result() {
    return this.#screen.result(this.model);
  }

  /** The printed lines above the screen. */
  get above(): string {
    return this.printed.join("\n");
  }

  /** The questions that were answered. */
  get answers(): readonly string[] {
    return this.effects.flatMap((effect) => (effect.kind === "answer" ? [effect.id] : []));
  }

  /** The messages of the path, as another process sees them. */
  async messages(): Promise<readonly Message[]> {
    const other = await this.store.openSession("talk");
    return (await other.path()).flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
  }

  #perform(effects: readonly ShellEffect[]): void {
    for (const effect of effects) {
      this.effects.push(effect);
      this.#performer.perform(effect);
    }
  }
}
