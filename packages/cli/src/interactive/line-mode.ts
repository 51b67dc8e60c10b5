import type { SessionId } from "@bough/session-core";
import type { Question, ShellEffect, ShellEvent } from "../shell/model.js";
import { ShellPerformer } from "../shell/perform.js";
import { parseLine, type SlashName } from "../shell/slash-commands.js";
import type { ShellWorld } from "../shell/world.js";
import type { Io } from "../terminal/io.js";
import { type Line, styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { loadExactWidths } from "../terminal/width.js";
import { type InteractiveRun, type OpenedSession, withSession } from "./opened-session.js";
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
  for (let id: SessionId | null = sessionId; id !== null; ) {
    last = id;
    id = await withSession(run, id, (opened) => new LineSession(run, opened, out, ask, waiting).run());
  }
  return last;
}

/** The shell of one session, line by line. */
class LineSession {
  readonly #run: InteractiveRun;
  readonly #out: Printer;
  readonly #ask: Ask;
  /** Lines typed before they were read; they are handled first. */
  readonly #waiting: string[];
  readonly #world: ShellWorld;
  readonly #performer: ShellPerformer;
  /** The session to which a command leads. */
  #next: SessionId | undefined;
  /** The error of a question that could not be asked. */
  #failure: unknown;

  constructor(run: InteractiveRun, opened: OpenedSession, out: Printer, ask: Ask, waiting: string[]) {
    this.#run = run;
    this.#out = out;
    this.#ask = ask;
    this.#waiting = waiting;
    this.#world = createShellWorld(run, opened);
    this.#performer = new ShellPerformer(
      this.#world,
      { showsTranscript: true, showsNotebookNote: !run.isNotebookShown },
      { print: (lines) => this.#print(lines), dispatch: (event) => this.#show(event), copy: () => undefined },
    );
    run.isNotebookShown = true;
  }

  /** Reads and handles lines. Returns the next session; null to quit. */
  async run(): Promise<SessionId | null> {
    try {
      await this.#performer.performAndWait({ kind: "open" });
      for (;;) {
        await this.#out.flush();
        const text = this.#waiting.shift() ?? (await this.#ask("> "));
        const next = text === undefined ? null : await this.#handleLine(text);
        if (this.#failure !== undefined) throw this.#failure;
        if (next !== undefined) return next;
      }
    } finally {
      this.#performer.end();
    }
  }

  /** Handles a line. Returns the next session, null to quit, or undefined to stay in this session. */
  async #handleLine(text: string): Promise<SessionId | null | undefined> {
    const line = parseLine(text);
    if (line.kind === "command") return this.#handleCommand(line.name, line.rest);
    if (line.kind === "unknown") this.#print([[styled("error", `There is no command /${line.name}. /help lists the commands.`)]]);
    else if (line.text.trim() !== "") await this.#performInterruptibly({ kind: "send", text: line.text });
    return undefined;
  }

  async #handleCommand(name: SlashName, rest: string): Promise<SessionId | null | undefined> {
    if (name === "quit") return null;
    if (name === "new") return createSession(this.#run, rest === "" ? null : rest);
    const printed = printedEquivalent(name, this.#world.session.id);
    if (printed === undefined) await this.#performInterruptibly({ kind: "command", name, rest });
    else {
      const { lines, notes } = await this.#world.runCommand(printed);
      this.#print([...lines, ...notes]);
    }
    return this.#next;
  }

  /** Ctrl-C stops the running work. */
  async #performInterruptibly(effect: ShellEffect): Promise<void> {
    const { signal, end } = this.#world.io.cancelOnInterrupt();
    signal.addEventListener("abort", () => this.#performer.perform({ kind: "stop" }), { once: true });
    await this.#performer.performAndWait(effect);
    end();
  }

  #print(lines: readonly Line[]): void {
    for (const line of lines) this.#out.line(...line);
  }

  // The other events update screens only.
  #show(event: ShellEvent): void {
    if (event.kind === "notice") this.#print([[event.isError ? styled("error", event.text) : event.text]]);
    if (event.kind === "message-not-stored") this.#print([[styled("error", event.reason)], ["Not stored: ", event.text]]);
    if (event.kind === "ask") void this.#put(event.question);
    if (event.kind === "delta" && event.isRetry === true) this.#print([[styled("dim", event.activity)]]);
    if (event.kind !== "leave" || event.result.kind !== "open") return;
    this.#next = event.result.sessionId;
    this.#print([[event.result.notice]]);
  }

  /** Asks the user to confirm a tool call. Never rejects: if input or output is closed, the turn is stopped. */
  async #put({ id, name, lines, isOutside }: Question): Promise<void> {
    try {
      this.#print([[styled("bold", `May the model use ${name}?`)], ...lines]);
      await this.#out.flush();
      const given = await this.#ask(`y once, ${isOutside ? "" : "a always, "}n no: `, (line) => this.#waiting.push(line));
      const answer = ({ y: "yes", a: "always" } as const)[given?.trim() ?? ""] ?? "no";
      this.#performer.perform({ kind: "answer", id, answer: answer === "always" && isOutside ? "no" : answer });
    } catch (error) {
      this.#failure = error;
      this.#performer.perform({ kind: "stop" });
    }
  }
}

/** The command that prints what a screen would show. */
function printedEquivalent(name: string, sessionId: SessionId): readonly string[] | undefined {
  if (name === "tree") return ["tree", sessionId];
  return name === "sessions" ? ["sessions"] : undefined;
}
