import { BoughError } from "@bough/session-core";
import type { ChatModel } from "../agent/chat-model.js";
import type { PermissionAnswer, PermissionRequest } from "../agent/permissions.js";
import { runTurn } from "../agent/turn.js";
import type { TurnEvent, TurnResult } from "../agent/turn-events.js";
import type { Config } from "../config/schema.js";
import { wrapLine } from "../format/wrap.js";
import { TextBudget } from "../preview/text-budget.js";
import { toolCallLines } from "../preview/tool-call.js";
import type { Glyphs } from "../terminal/glyphs.js";
import { type Line, styled } from "../terminal/line.js";
import { safe, safeLines } from "../terminal/safe.js";
import { transcriptLines } from "./transcript.js";
import { maxCallLines } from "./view.js";
import type { ShellHost, ShellWorld } from "./world.js";

type Tools = NonNullable<Config["tools"]>;

/** Lets the model answer, and tells the screen what happens; what came is printed as it is stored. */
export class ReplyRun {
  readonly #abort = new AbortController();
  readonly #answers = new Map<string, (answer: PermissionAnswer) => void>();

  readonly #world: ShellWorld;
  readonly #host: ShellHost;
  readonly #model: ChatModel;
  readonly #glyphs: Glyphs;
  readonly #width: number;
  /** What the person allowed for good in this shell. */
  readonly #allowed: Set<keyof Tools>;

  constructor(world: ShellWorld, host: ShellHost, model: ChatModel, glyphs: Glyphs, width: number, allowed: Set<keyof Tools>) {
    this.#world = world;
    this.#host = host;
    this.#model = model;
    this.#glyphs = glyphs;
    this.#width = width;
    this.#allowed = allowed;
  }

  /** Ends the reply; what came is kept. Questions that wait are answered with no. */
  stop(): void {
    this.#abort.abort();
    for (const answer of this.#answers.values()) answer("no");
    this.#answers.clear();
  }

  answer(id: string, answer: PermissionAnswer): void {
    this.#answers.get(id)?.(answer);
    this.#answers.delete(id);
  }

  /** How the turn ended; the person was told. */
  async run(thinking: string | undefined): Promise<TurnResult> {
    const { session, compactor, io, config } = this.#world;
    const allowedNow = Object.fromEntries([...this.#allowed].map((name) => [name, "allow" as const]));
    const result = await runTurn({
      session,
      compactor,
      model: this.#model,
      permissions: { ...config.tools, ...allowedNow },
      cwd: io.cwd,
      env: io.env,
      signal: this.#abort.signal,
      thinking,
      now: io.now,
      onEvent: (event) => this.#heard(event),
      ask: (call) => this.#ask(call),
    });
    await this.#printing;
    this.#ended(result);
    return result;
  }

  #heard(event: TurnEvent): void {
    const { dispatch, print } = this.#host;
    switch (event.kind) {
      case "request":
        dispatch({ kind: "status", status: { usedTokens: event.use.totalTokens, windowTokens: event.use.windowTokens } });
        break;
      case "text":
        dispatch({ kind: "delta", text: event.delta, activity: "writing" });
        break;
      case "thinking":
        dispatch({ kind: "delta", text: "", activity: "thinking" });
        break;
      case "usage":
        break;
      case "reply":
        this.#printEntry(event.entryId, true);
        break;
      case "tool":
        dispatch({ kind: "delta", text: "", activity: `running ${event.name}` });
        break;
      case "tool-result":
        this.#printEntry(event.entryId, false);
        break;
      case "retry":
        print([[styled("dim", event.message)]]);
    }
  }

  #printing: Promise<void> = Promise.resolve();

  /** In the order in which they came. */
  #printEntry(entryId: string, isReply: boolean): void {
    const print = async () => {
      const entry = await this.#world.session.entry(entryId);
      // What was seen as it came goes, and the whole takes its place above.
      if (isReply) this.#host.dispatch({ kind: "reply-stored", entryId });
      this.#host.print(transcriptLines(entry, this.#width, this.#glyphs));
    };
    this.#printing = this.#printing.then(print).catch((error: unknown) => {
      // The session went away under the reply; the turn itself ends with that and says so.
      if (!(error instanceof BoughError)) throw error;
    });
  }

  #ask(call: PermissionRequest): Promise<PermissionAnswer> {
    const block = { type: "toolCall" as const, id: call.id, name: call.name, arguments: call.input };
    const lines = [...outsideLines(call, this.#width), ...toolCallLines(block, new TextBudget(this.#width), this.#glyphs)];
    // Nobody can judge a call of which a part is not seen.
    if (lines.length > maxCallLines((this.#world.io.terminal?.stdout.rows || 24) - 1)) this.#host.print([...lines, []]);
    this.#host.dispatch({ kind: "ask", question: { id: call.id, name: call.name, lines, isOutside: call.isOutside } });
    return new Promise((resolve) => {
      this.#answers.set(call.id, (answer) => {
        if (answer === "always" && !call.isOutside) this.#allowed.add(call.name);
        resolve(answer);
      });
    });
  }

  #ended(result: TurnResult): void {
    const said = turnEndText(result);
    if (result.kind === "failed" && result.unstored !== null) {
      const lines = safeLines(result.unstored).map((line): Line => [line]);
      this.#host.print([[styled("error", "This could not be stored:")], ...lines, []]);
    }
    if (said !== null) this.#host.dispatch({ kind: "notice", text: said, isError: result.kind === "failed" });
  }
}

/** A warning, with the file that the call is really about: its path can lead over links. */
function outsideLines({ isOutside, target }: PermissionRequest, width: number): readonly Line[] {
  return isOutside ? wrapLine([styled("error", `It reaches outside of this folder: ${safe(target ?? "")}`)], width) : [];
}

/** What a person is told of the end of a turn; null: the reply says it all. */
function turnEndText(result: TurnResult): string | null {
  switch (result.kind) {
    case "done":
      return null;
    case "stopped":
      return result.entryId === null ? "Stopped; nothing had come." : "Stopped; what came is kept.";
    case "too-many-rounds":
      return `Stopped after ${result.rounds} rounds of tools. Say something to go on.`;
    case "failed":
      return result.message;
  }
}
