import type { SessionId } from "@bough/session-core";
import type { Question, ShellEffect, ShellEvent, ShellResult } from "../shell/model.js";
import { ShellPerformer } from "../shell/perform.js";
import { parseLine, type SlashName } from "../shell/slash-commands.js";
import type { ShellHost, ShellWorld } from "../shell/world.js";
import type { Io } from "../terminal/io.js";
import { type Line, styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { loadExactWidths } from "../terminal/width.js";
import { type InteractiveRun, withSession } from "./opened-session.js";
import { createSession, createShellWorld } from "./routes.js";

/** Reads a line, see `Io.ask`; undefined: end of input. */
type Ask = NonNullable<Io["ask"]>;

/**
 * Runs the shell on a terminal without cursor movement (`TERM=dumb`): reads a line, prints the result, repeats. It has the
 * same commands; `/tree` and `/sessions` print instead of opening a screen. Returns the last session.
 */
export async function runLineMode(run: InteractiveRun, out: Printer, ask: Ask, sessionId: SessionId): Promise<SessionId> {
  await loadExactWidths();
  const waiting: string[] = [];
  let last = sessionId;
  for (let id: SessionId | null = sessionId; id !== null; id = await runSession(run, out, ask, waiting, id)) last = id;
  return last;
}

/** `waiting`: lines typed before they were read; they are handled first. */
async function runSession(run: InteractiveRun, out: Printer, ask: Ask, waiting: string[], id: SessionId): Promise<SessionId | null> {
  return withSession(run, id, async (opened) => {
    const world = createShellWorld(run, opened);
    const host = new PrintingHost(out, (question) => questions.ask(question));
    const performer = new ShellPerformer(world, { showsTranscript: true, showsNotebookNote: !run.isNotebookShown }, host);
    run.isNotebookShown = true;
    const questions = new QuestionAsker(out, ask, waiting, (effect) => performer.perform(effect));
    const talk: LineSession = { run, world, performer, host };
    try {
      await performer.performAndWait({ kind: "open" });
      for (;;) {
        await out.flush();
        const text = waiting.shift() ?? (await ask("> "));
        const next = text === undefined ? null : await handleLine(talk, text);
        questions.throwFailure();
        if (next !== undefined) return next;
      }
    } finally {
      performer.end();
    }
  });
}

interface LineSession {
  readonly run: InteractiveRun;
  readonly world: ShellWorld;
  readonly performer: ShellPerformer;
  readonly host: PrintingHost;
}

/** Handles a line. Returns the next session, null to quit, or undefined to stay in this session. */
async function handleLine(talk: LineSession, text: string): Promise<SessionId | null | undefined> {
  const line = parseLine(text);
  if (line.kind === "command") return handleCommand(talk, line.name, line.rest);
  if (line.kind === "unknown") talk.host.print([[styled("error", `There is no command /${line.name}. /help lists the commands.`)]]);
  else if (line.text.trim() !== "") await performInterruptibly(talk, { kind: "send", text: line.text });
  return undefined;
}

async function handleCommand(talk: LineSession, name: SlashName, rest: string): Promise<SessionId | null | undefined> {
  const { run, world, host } = talk;
  if (name === "quit") return null;
  if (name === "new") return createSession(run, rest === "" ? null : rest);
  const printed = printedEquivalent(name, world.session.id);
  if (printed === undefined) await performInterruptibly(talk, { kind: "command", name, rest });
  else {
    const { lines, notes } = await world.runCommand(printed);
    host.print([...lines, ...notes]);
  }
  return host.left?.kind === "open" ? host.left.sessionId : undefined;
}

/** The command that prints what a screen would show. */
function printedEquivalent(name: string, sessionId: SessionId): readonly string[] | undefined {
  if (name === "tree") return ["tree", sessionId];
  return name === "sessions" ? ["sessions"] : undefined;
}

/** Ctrl-C stops the running work. */
async function performInterruptibly({ world, performer }: LineSession, effect: ShellEffect): Promise<void> {
  const { signal, end } = world.io.cancelOnInterrupt();
  signal.addEventListener("abort", () => performer.perform({ kind: "stop" }), { once: true });
  await performer.performAndWait(effect);
  end();
}

class PrintingHost implements ShellHost {
  /** The result of a command that leaves the session. */
  left: ShellResult | undefined;
  readonly #out: Printer;
  readonly #onQuestion: (question: Question) => void;

  constructor(out: Printer, onQuestion: (question: Question) => void) {
    this.#out = out;
    this.#onQuestion = onQuestion;
  }

  readonly print = (lines: readonly Line[]): void => {
    for (const line of lines) this.#out.line(...line);
  };

  readonly copy = (): void => undefined;

  // The other events update screens only.
  readonly dispatch = (event: ShellEvent): void => {
    if (event.kind === "notice") this.print([[event.isError ? styled("error", event.text) : event.text]]);
    if (event.kind === "message-not-stored") this.print([[styled("error", event.reason)], ["Not stored: ", event.text]]);
    if (event.kind === "ask") this.#onQuestion(event.question);
    if (event.kind === "delta" && event.isRetry === true) this.print([[styled("dim", event.activity)]]);
    if (event.kind !== "leave") return;
    this.left = event.result;
    if (event.result.kind === "open") this.print([[event.result.notice]]);
  };
}

/** Asks the user to confirm tool calls. */
class QuestionAsker {
  #failure: unknown;
  readonly #out: Printer;
  readonly #ask: Ask;
  readonly #waiting: string[];
  readonly #perform: (effect: ShellEffect) => void;

  constructor(out: Printer, ask: Ask, waiting: string[], perform: (effect: ShellEffect) => void) {
    this.#out = out;
    this.#ask = ask;
    this.#waiting = waiting;
    this.#perform = perform;
  }

  ask(question: Question): void {
    this.#put(question).catch((error: unknown) => {
      // Input or output is closed, so questions cannot be answered: the turn is stopped.
      this.#failure = error;
      this.#perform({ kind: "stop" });
    });
  }

  /** @throws the error of a question. */
  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #put({ id, name, lines, isOutside }: Question): Promise<void> {
    for (const line of [[styled("bold", `May the model use ${name}?`)], ...lines]) this.#out.line(...line);
    await this.#out.flush();
    const given = await this.#ask(`y once, ${isOutside ? "" : "a always, "}n no: `, (line) => this.#waiting.push(line));
    const answer = ({ y: "yes", a: "always" } as const)[given?.trim() ?? ""] ?? "no";
    this.#perform({ kind: "answer", id, answer: answer === "always" && isOutside ? "no" : answer });
  }
}
