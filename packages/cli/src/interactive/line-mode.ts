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

/** Asks the person for a line, see `Io.ask`; undefined: there will be none any more. */
type Ask = NonNullable<Io["ask"]>;

/**
 * The shell on a terminal that can only print (`TERM=dumb`): a line is read, what comes of it is printed, and so on. The same
 * commands; the tree and the sessions are printed instead of opened.
 */
export async function runLineMode(run: InteractiveRun, out: Printer, ask: Ask, sessionId: SessionId): Promise<void> {
  await loadExactWidths();
  const waiting: string[] = [];
  for (let id: SessionId | null = sessionId; id !== null; ) id = await runSession(run, out, ask, waiting, id);
}

/** `waiting`: lines that were typed before anybody asked for them; they go out first. */
async function runSession(run: InteractiveRun, out: Printer, ask: Ask, waiting: string[], id: SessionId): Promise<SessionId | null> {
  return withSession(run, id, async (opened) => {
    const world = createShellWorld(run, opened);
    const performer = new ShellPerformer(world, { showsTranscript: true, showsNotebookNote: !run.isNotebookShown });
    run.isNotebookShown = true;
    const questions = new QuestionAsker(out, ask, waiting, (effect) => performer.perform(effect, host));
    const host = new PrintingHost(out, (question) => questions.ask(question));
    const talk: LineSession = { run, world, performer, host };
    try {
      await performer.performAndWait({ kind: "open" }, host);
      for (;;) {
        await out.flush();
        const text = waiting.shift() ?? (await ask("> "));
        const next = text === undefined ? null : await handleLine(talk, text);
        questions.throwFailure();
        if (next !== undefined) return next;
      }
    } finally {
      performer.close();
    }
  });
}

interface LineSession {
  readonly run: InteractiveRun;
  readonly world: ShellWorld;
  readonly performer: ShellPerformer;
  readonly host: PrintingHost;
}

/** Does what a line asks for. Where it leads: another session, away (null), or nowhere (undefined). */
async function handleLine(talk: LineSession, text: string): Promise<SessionId | null | undefined> {
  const line = parseLine(text);
  if (line.kind === "command") return handleCommand(talk, line.name, line.rest);
  if (line.kind === "unknown") talk.host.print([[styled("error", `No command /${line.name}. /help lists them.`)]]);
  else if (line.text.trim() !== "") await performInterruptibly(talk, { kind: "send", text: line.text });
  return undefined;
}

async function handleCommand(talk: LineSession, name: SlashName, rest: string): Promise<SessionId | null | undefined> {
  const { run, world, host } = talk;
  if (name === "quit") return null;
  if (name === "new") return createSession(run, rest === "" ? null : rest);
  const printed = printedEquivalent(name, world.session.id);
  if (printed === undefined) await performInterruptibly(talk, { kind: "command", name, rest });
  else host.print((await world.runCommand(printed)).lines);
  return host.left?.kind === "open" ? host.left.sessionId : undefined;
}

/** What stands for a screen that cannot be drawn. */
function printedEquivalent(name: string, sessionId: SessionId): readonly string[] | undefined {
  if (name === "tree") return ["tree", sessionId];
  return name === "sessions" ? ["sessions"] : undefined;
}

/** Ctrl-C stops what goes on, as Esc does elsewhere. */
async function performInterruptibly({ world, performer, host }: LineSession, effect: ShellEffect): Promise<void> {
  const { signal, end } = world.io.cancelOnInterrupt();
  signal.addEventListener("abort", () => performer.perform({ kind: "stop" }, host), { once: true });
  await performer.performAndWait(effect, host);
  end();
}

class PrintingHost implements ShellHost {
  /** Where a command leads to. */
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

  // The rest of the news is about what a screen shows meanwhile.
  readonly dispatch = (event: ShellEvent): void => {
    if (event.kind === "notice") this.print([[event.isError ? styled("error", event.text) : event.text]]);
    if (event.kind === "message-not-stored") this.print([[styled("error", event.reason)], ["Not stored: ", event.text]]);
    if (event.kind === "ask") this.#onQuestion(event.question);
    if (event.kind === "leave") this.left = event.result;
  };
}

/** Puts the questions of tools to the person. */
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
      // The output or the input is gone: nobody can answer, and the reply is stopped with what came.
      this.#failure = error;
      this.#perform({ kind: "stop" });
    });
  }

  /** @throws what went wrong while a question was put. */
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
