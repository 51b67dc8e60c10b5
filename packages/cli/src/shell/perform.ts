import { BoughError, SessionNotFoundError } from "@bough/session-core";
import { count, counted, PriceList } from "@bough/session-core/view";
import { isObject } from "@bough/session-core/wire";
import { type ChatModel, CONFIG_FILE } from "../agent/chat-model.js";
import { offersRecall } from "../agent/request-frame.js";
import { appendUserMessage, findOpenQuestion } from "../agent/turn-branch.js";
import type { TurnResult } from "../agent/turn-events.js";
import type { Config } from "../config/schema.js";
import { errorLine, failureNotice } from "../format/error-text.js";
import { wrapLine } from "../format/wrap.js";
import { describeCompaction } from "../session/compaction-text.js";
import { sessionName, shortSessionId } from "../session/names.js";
import { StoreWatcher } from "../session/store-watcher.js";
import { chooseWindow, describeWindow } from "../session/window-choice.js";
import { type Glyphs, glyphsFor } from "../terminal/glyphs.js";
import { type Line, styled } from "../terminal/line.js";
import { startAnswerDelay } from "../terminal/line-reader.js";
import { safe } from "../terminal/safe.js";
import { padEnd } from "../terminal/width.js";
import type { Performer } from "../tui/screen.js";
import { type Intro, printIntro } from "./intro.js";
import type { ShellEffect } from "./model.js";
import { ReplyRun } from "./reply-run.js";
import { DELETED, SessionFollower } from "./session-follower.js";
import type { SlashName } from "./slash-commands.js";
import { helpScreenLines, labelLines, runSlashCommand, setThinkingLevel } from "./slash-run.js";
import { StatusReader } from "./status.js";
import { promptLines } from "./transcript.js";
import { type ShellHost, type ShellWorld, terminalWidth } from "./world.js";

const TICK_MS = 1000;

/** Performs the effects of the shell. */
export class ShellPerformer implements Performer<ShellEffect> {
  readonly #world: ShellWorld;
  readonly #host: ShellHost;
  readonly #intro: Intro;
  readonly #glyphs: Glyphs;
  #model: ChatModel | null;
  readonly #status: StatusReader;
  #reply: ReplyRun | undefined;
  /** Cancels the compaction that is running: on command, for another model, or after a turn. One at a time. */
  #compaction: AbortController | undefined;
  #turnEndCompaction: Promise<void> = Promise.resolve();
  #ticker: NodeJS.Timeout | undefined;
  #cancelAnswerDelay: () => void = () => undefined;
  readonly #changes: StoreWatcher;
  readonly #follower: SessionFollower;
  readonly #alwaysAllowed = new Set<keyof NonNullable<Config["tools"]>>();

  constructor(world: ShellWorld, intro: Intro, host: ShellHost) {
    this.#world = world;
    this.#host = host;
    this.#intro = intro;
    this.#glyphs = glyphsFor(world.io.env);
    this.#model = world.model;
    this.#status = new StatusReader(world.session, new PriceList(world.config.prices), world.config.window);
    this.#changes = new StoreWatcher(world.store, () => world.io.now());
    this.#follower = new SessionFollower(world, this.#changes, host, () => this.#dispatchStatus());
  }

  perform(effect: ShellEffect): void {
    void this.performAndWait(effect);
  }

  /** Performs an effect and resolves when it is done. Never rejects: failures become notices. */
  async performAndWait(effect: ShellEffect): Promise<void> {
    const onFailure = (error: unknown) => this.#showFailure(error);
    if (effect.kind !== "send" && effect.kind !== "command") return this.#performEffect(effect).catch(onFailure);
    await this.#follower.writerStarted();
    await this.#performEffect(effect).catch(onFailure);
    this.#host.dispatch({ kind: "line-done" });
    await this.#dispatchStatus().catch(onFailure);
    await this.#follower.writerEnded();
  }

  end(): void {
    clearInterval(this.#ticker);
    this.#cancelAnswerDelay();
    this.#follower.end();
    this.#stop();
  }

  get #width(): number {
    return terminalWidth(this.#world);
  }

  async #performEffect(effect: ShellEffect): Promise<void> {
    switch (effect.kind) {
      case "open":
        this.#ticker = setInterval(() => this.#host.dispatch({ kind: "tick", nowMs: this.#world.io.now() }), TICK_MS);
        this.#ticker.unref();
        this.#world.onBackground((background) => this.#showBackground(background));
        await printIntro(this.#world, this.#host, this.#glyphs, this.#intro);
        this.#follower.start();
        return this.#dispatchStatus();
      case "send":
        return this.#sendMessage(effect.text);
      case "command":
        return this.#runCommand(effect.name, effect.rest);
      case "print-unsent":
        return this.#printUnsent(effect.texts);
      case "stop":
        return this.#stop();
      case "start-answer-delay":
        return this.#startAnswerDelay(effect.id);
      case "answer":
        return this.#reply?.answer(effect.id, effect.answer);
    }
  }

  #stop(): void {
    this.#reply?.stop();
    this.#compaction?.abort();
  }

  #startAnswerDelay(id: string): void {
    this.#cancelAnswerDelay();
    this.#cancelAnswerDelay = (this.#world.startAnswerDelay ?? startAnswerDelay)(() =>
      this.#host.dispatch({ kind: "answer-delay-passed", id }),
    );
  }

  #showBackground(background: boolean): void {
    this.#host.dispatch({ kind: "status", status: { background } });
    void (background ? this.#follower.writerStarted() : this.#follower.writerEnded());
  }

  async #dispatchStatus(): Promise<void> {
    const [status, held] = await Promise.all([this.#status.read(this.#model), this.#changes.readHeld()]);
    this.#host.dispatch({ kind: "status", status: { ...status, isHeld: held.has(this.#world.session.id) } });
  }

  /** Stores the message before it asks the model. */
  async #sendMessage(text: string): Promise<void> {
    const model = this.#model;
    // Sent once more after a failure, for example with Up and Enter.
    if (model !== null && (await findOpenQuestion(this.#world.session).catch(() => null))?.text === text) return this.#retry();
    try {
      await appendUserMessage(this.#world.session, text);
    } catch (error) {
      // Nothing was written; the text returns to the prompt.
      if (!(error instanceof BoughError)) throw error;
      const reason = error instanceof SessionNotFoundError ? DELETED : errorLine(error);
      return this.#host.dispatch({ kind: "message-not-stored", text, reason });
    }
    this.#host.print(promptLines(text, this.#width, this.#glyphs));
    if (model !== null) await this.#runReply(model);
  }

  /** Asks the model again for the last question, which is not stored a second time. */
  async #retry(): Promise<void> {
    const question = await findOpenQuestion(this.#world.session);
    if (question === null || this.#model === null) {
      const text =
        this.#model === null ? "No model is configured; nothing was sent." : "Nothing to send again: the last question has its reply.";
      return this.#showNotice(text, true);
    }
    const what = question.isBegun ? "The model is asked to go on." : "The question is sent again; it is stored once.";
    this.#host.print([[styled("dim", what)], []]);
    await this.#runReply(this.#model);
  }

  async #runReply(model: ChatModel): Promise<void> {
    this.#host.dispatch({ kind: "reply-started" });
    const reply = new ReplyRun({
      world: this.#world,
      host: this.#host,
      model,
      glyphs: this.#glyphs,
      width: this.#width,
      alwaysAllowed: this.#alwaysAllowed,
    });
    this.#reply = reply;
    let kind: TurnResult["kind"] = "failed";
    try {
      const { thinkingLevel } = await this.#world.session.settings();
      ({ kind } = await reply.run(thinkingLevel ?? this.#world.config.thinking));
    } finally {
      this.#reply = undefined;
      this.#host.dispatch({ kind: "reply-ended" });
    }
    if (kind === "done" || kind === "too-many-rounds") this.#turnEndCompaction = this.#compactAfterTurn();
  }

  /**
   * Compacts after a turn if the compactor requires it. New prompts are stored meanwhile; the next request (in the compactor)
   * and other compactions wait for it. Never rejects.
   */
  async #compactAfterTurn(): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    this.#compaction = controller;
    try {
      const result = await this.#world.compactor.turnEnded({ signal });
      if (result?.kind === "failed") this.#showNotice(describeCompaction(result, "/compact --undo"), true);
      if (result?.kind === "compacted") await this.#dispatchStatus();
    } catch (error) {
      if (!signal.aborted || error !== signal.reason) this.#showFailure(error);
    } finally {
      if (this.#compaction === controller) this.#compaction = undefined;
    }
  }

  #printUnsent(texts: readonly string[]): void {
    this.#host.print([[styled("error", "This was not sent:")], ...texts.flatMap((text) => promptLines(text, this.#width, this.#glyphs))]);
  }

  async #runCommand(name: SlashName, rest: string): Promise<void> {
    // Print the command above its output.
    this.#host.print([[styled("dim", `${this.#glyphs.cursor} /${name}${rest === "" ? "" : ` ${rest}`}`)]]);
    if (await runSlashCommand({ ...this.#world, model: this.#model }, this.#host, name, rest)) return;
    switch (name) {
      case "help":
        return this.#host.print(helpScreenLines(this.#world, this.#width, this.#glyphs));
      case "settings":
        return this.#host.print(await settingsLines({ ...this.#world, model: this.#model }, this.#alwaysAllowed));
      case "label":
        return this.#host.print(await labelLines(this.#world));
      case "retry":
        return this.#retry();
      case "thinking":
        return setThinkingLevel(this.#world, this.#host, rest);
      case "model":
        return this.#setModel(rest);
      case "fork":
      case "clone":
        return this.#fork(name === "clone" ? "" : rest);
      case "compact":
        return this.#compact(rest);
    }
  }

  async #setModel(name: string): Promise<void> {
    if (name === "") {
      const text =
        this.#model === null
          ? "No model is configured. Choose one: /model NAME (see bough help environment)."
          : `Model: ${this.#model.name}.`;
      return this.#showNotice(text, false);
    }
    const model = this.#world.selectModel(name);
    if (model === null) return;
    const warning = this.#world.hideKey(model.secrets);
    if (warning !== null) this.#host.print([...wrapLine([styled("error", warning)], this.#width), []]);
    await this.#world.session.append({ type: "model_change", provider: model.provider, modelId: model.name }, { onConflict: "branch" });
    this.#model = model;
    this.#host.print([[styled("dim", `model: ${model.name}`)], []]);
    // A smaller context window may require a compaction.
    await this.#runWithProgress("fitting the session to the new model", (signal) =>
      this.#world.compactor.modelChanged({
        model: { provider: model.provider, modelId: model.name },
        contextWindow: model.windowTokens,
        signal,
      }),
    );
  }

  async #fork(entry: string): Promise<void> {
    const { store, session } = this.#world;
    const at = entry === "" ? undefined : await session.resolve(entry);
    const fork = await store.forkSession(session.id, { at });
    const record = await fork.record();
    const origin = await shortSessionId(store, session.id, { fullIds: false });
    const size = counted(record.entryCount, "entry", "entries");
    const notice = `New session: ${await sessionName(store, record, { fullIds: false })}, ${size}. Back: /sessions, or bough --session ${origin}`;
    this.#host.dispatch({ kind: "leave", result: { kind: "open", sessionId: fork.id, draft: "", notice } });
  }

  async #compact(focus: string): Promise<void> {
    const result = await this.#runWithProgress("summarizing", (signal) =>
      this.#world.compactor.compact({ instructions: focus === "" ? undefined : focus, signal }),
    );
    this.#showNotice(describeCompaction(result, "/compact --undo"), result.kind === "failed");
  }

  async #runWithProgress<T>(text: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    this.#host.dispatch({ kind: "work-started", text });
    try {
      await this.#turnEndCompaction;
      this.#compaction = controller;
      return await work(controller.signal);
    } finally {
      this.#compaction = undefined;
      this.#host.dispatch({ kind: "work-ended" });
    }
  }

  #showNotice(text: string, isError: boolean): void {
    this.#host.dispatch({ kind: "notice", text, isError });
  }

  /** Shows a failure. The shell continues, also after an unexpected error: all messages are stored. */
  #showFailure(error: unknown): void {
    this.#showNotice(failureNotice(error), true);
  }
}

/** A setting in effect, and its origin; "": the value contains its origin. */
type Row = readonly [name: string, value: string, origin: string];

/**
 * `/settings`: the settings in effect and where each one comes from. `allowed`: tools that the user allowed for this shell.
 * Keys are named by their variables, never shown.
 */
async function settingsLines(world: ShellWorld, allowed: ReadonlySet<string>): Promise<readonly Line[]> {
  const { config, configPath } = world;
  const from = (setting: unknown) => (setting === undefined ? "default" : CONFIG_FILE);
  const rows: readonly Row[] = [
    ...(await modelRows(world)),
    await thinkingRow(world),
    ["compaction", config.preset ?? "balanced", from(config.preset)],
    ...compactionRows(config.compaction ?? {}),
    ["summaries", world.model === null ? "without a model" : (config.summaryModel ?? world.model.name), from(config.summaryModel)],
    toolRow(config.tools ?? {}),
    ["  recall", offersRecall(config.tools ?? {}) ? "allow, once there is a summary" : "off", from(config.tools?.recall)],
    ...[...allowed].map((name): Row => [`  ${name}`, "allow", "this shell: answered always"]),
    ["leaving a branch", config.navigator?.leaving ?? "ask", from(config.navigator?.leaving)],
  ];
  const shown = rows.flatMap(([name, value, origin]) => {
    const note = origin === "" ? [] : [styled("dim", `  (${safe(origin)})`)];
    return wrapLine([padEnd(`  ${name} `, NAME_COLUMNS), styled("bold", safe(value)), ...note], terminalWidth(world));
  });
  return [[styled("heading", "Settings"), styled("dim", `  config file: ${safe(configPath)}`)], ...shown, []];
}

const NAME_COLUMNS = 22;

/** The settings that differ from the preset, by their path. */
function compactionRows(group: Readonly<Record<string, unknown>>, above = ""): readonly Row[] {
  return Object.entries(group).flatMap(([name, value]): readonly Row[] => {
    const path = `${above}${name}`;
    if (isObject(value)) return compactionRows(value, `${path}.`);
    return value === undefined ? [] : [[`  ${path}`, JSON.stringify(value), CONFIG_FILE]];
  });
}

/** Model, address, key and window; without a model the window of the session. */
async function modelRows({ model, session, config }: ShellWorld): Promise<readonly Row[]> {
  if (model === null) {
    const window = await chooseWindow(session, config.window);
    const shown = config.window === undefined ? describeWindow(window) : `${count(window.tokens)} tokens`;
    return [
      ["model", "none (notebook)", "no model is named"],
      ["window", shown, config.window === undefined ? "" : CONFIG_FILE],
    ];
  }
  const { name, provider, address, windowTokens, origin } = model;
  return [
    ["model", name, origin.name],
    ["address", address, origin.address],
    ["protocol", provider, ""],
    ["key", origin.key === null ? "none is sent" : "set", origin.key ?? ""],
    ["window", `${count(windowTokens)} tokens`, origin.window],
  ];
}

async function thinkingRow({ session, config }: ShellWorld): Promise<Row> {
  const { thinkingLevel } = await session.settings();
  if (thinkingLevel !== undefined && thinkingLevel !== null) return ["thinking", thinkingLevel, "this session: /thinking"];
  return ["thinking", config.thinking ?? "that of the server", config.thinking === undefined ? "default" : CONFIG_FILE];
}

function toolRow({ recall: _recall, ...tools }: NonNullable<Config["tools"]>): Row {
  const on = Object.entries(tools).filter(([, permission]) => permission !== undefined && permission !== "off");
  const text = on.length === 0 ? "off" : on.map(([name, permission]) => `${name} ${permission}`).join(", ");
  return ["tools", text, Object.keys(tools).length === 0 ? "default" : CONFIG_FILE];
}
