import { BoughError } from "@bough/session-core";
import { viewCall } from "@bough/session-core/view";
import type { ChatModel } from "../agent/chat-model.js";
import type { PermissionAnswer, PermissionRequest } from "../agent/permissions.js";
import { runTurn } from "../agent/turn.js";
import type { TurnEvent, TurnResult } from "../agent/turn-events.js";
import type { Config } from "../config/schema.js";
import { wrapLine } from "../format/wrap.js";
import { callLines } from "../preview/parts.js";
import { TextBudget } from "../preview/text-budget.js";
import type { Glyphs } from "../terminal/glyphs.js";
import { type Line, styled } from "../terminal/line.js";
import { safe, safeLines } from "../terminal/safe.js";
import { transcriptLines } from "./transcript.js";
import { maxCallLines } from "./view.js";
import type { ShellHost, ShellWorld } from "./world.js";

type Tools = NonNullable<Config["tools"]>;

/** The objects that a reply operates on. */
interface ReplyContext {
  readonly world: ShellWorld;
  readonly host: ShellHost;
  readonly model: ChatModel;
  readonly glyphs: Glyphs;
  readonly width: number;
  /** Tools that the user allowed for the rest of this shell; an answer "always" adds to it. */
  readonly alwaysAllowed: Set<keyof Tools>;
}

/** Runs one turn of the model: dispatches its progress, prints entries once they are stored, and asks for permissions. */
export class ReplyRun {
  readonly #abort = new AbortController();
  readonly #answers = new Map<string, (answer: PermissionAnswer) => void>();

  readonly #context: ReplyContext;
  #printing: Promise<void> = Promise.resolve();

  constructor(context: ReplyContext) {
    this.#context = context;
  }

  /** Aborts the turn; the text received so far is kept. Open questions are answered with no. */
  stop(): void {
    this.#abort.abort();
    for (const answer of this.#answers.values()) answer("no");
    this.#answers.clear();
  }

  answer(id: string, answer: PermissionAnswer): void {
    this.#answers.get(id)?.(answer);
    this.#answers.delete(id);
  }

  /** Runs the turn and shows how it ended. */
  async run(thinking: string | undefined): Promise<TurnResult> {
    const { world, model, alwaysAllowed } = this.#context;
    const { session, compactor, io, config } = world;
    const allowedNow = Object.fromEntries([...alwaysAllowed].map((name) => [name, "allow" as const]));
    const result = await runTurn({
      session,
      compactor,
      model,
      permissions: { ...config.tools, ...allowedNow },
      cwd: io.cwd,
      env: io.env,
      signal: this.#abort.signal,
      thinking,
      now: io.now,
      onEvent: (event) => this.#onEvent(event),
      ask: (call) => this.#ask(call),
    });
    await this.#printing;
    this.#printEnd(result);
    return result;
  }

  #onEvent(event: TurnEvent): void {
    const { dispatch, print } = this.#context.host;
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
      case "reply":
        this.#printEntry(event.entryId, true);
        break;
      case "tool":
        dispatch({ kind: "delta", text: "", activity: `running ${event.name}` });
        break;
      case "wait":
        dispatch({ kind: "delta", text: "", activity: retryText(event), isRetry: true });
        break;
      case "tool-result":
        this.#printEntry(event.entryId, false);
        break;
      case "retry":
        print([[styled("dim", event.message)]]);
    }
  }

  /** Prints entries in the order in which they were stored. */
  #printEntry(entryId: string, isReply: boolean): void {
    const { world, host, width, glyphs } = this.#context;
    const print = async () => {
      const entry = await world.session.entry(entryId);
      // The printed entry replaces the streamed text.
      if (isReply) host.dispatch({ kind: "reply-stored" });
      host.print(transcriptLines(entry, width, glyphs));
    };
    this.#printing = this.#printing.then(print).catch((error: unknown) => {
      // Another process deleted the session; the turn ends with that error.
      if (!(error instanceof BoughError)) throw error;
    });
  }

  #ask(call: PermissionRequest): Promise<PermissionAnswer> {
    const { world, host, width, glyphs, alwaysAllowed } = this.#context;
    const block = { type: "toolCall" as const, id: call.id, name: call.name, arguments: call.input };
    const lines = [...outsideLines(call, width), ...callLines(viewCall(block, null), new TextBudget(width), glyphs)];
    // The question shows only the start of a long call; print all of it above.
    if (lines.length > maxCallLines((world.io.terminal?.stdout.rows || 24) - 1)) host.print([...lines, []]);
    host.dispatch({ kind: "ask", question: { id: call.id, name: call.name, lines, isOutside: call.isOutside } });
    return new Promise((resolve) => {
      this.#answers.set(call.id, (answer) => {
        if (answer === "always" && !call.isOutside) alwaysAllowed.add(call.name);
        resolve(answer);
      });
    });
  }

  #printEnd(result: TurnResult): void {
    const { host } = this.#context;
    const text = turnEndText(result);
    if (result.kind === "failed" && result.unstored !== null) {
      const lines = safeLines(result.unstored).map((line): Line => [line]);
      host.print([[styled("error", "This could not be stored:")], ...lines, []]);
    }
    if (text !== null) host.dispatch({ kind: "notice", text, isError: result.kind === "failed" });
  }
}

/** A warning with the real path of the target, which a symbolic link may hide. */
function outsideLines({ isOutside, target }: PermissionRequest, width: number): readonly Line[] {
  return isOutside ? wrapLine([styled("error", `This call reaches outside the working directory: ${safe(target ?? "")}`)], width) : [];
}

/** The notice for the end of a turn; null for a normal end. */
function turnEndText(result: TurnResult): string | null {
  switch (result.kind) {
    case "done":
      return null;
    case "stopped":
      return result.entryId === null ? "Stopped; nothing was received." : "Stopped; the reply so far is kept.";
    case "too-many-rounds":
      return `Stopped after ${result.rounds} rounds of tool calls. Send a message to continue.`;
    case "failed":
      // The reason of a failed model is in the transcript.
      return result.code === null ? "The reply failed. /retry sends the question again." : result.message;
  }
}

function retryText({ reason, attempt, attempts, waitMs }: Extract<TurnEvent, { kind: "wait" }>): string {
  const when = waitMs === 0 ? "" : ` in ${Math.ceil(waitMs / 1000)} s`;
  return `${reason}, attempt ${attempt} of ${attempts}${when}`;
}
