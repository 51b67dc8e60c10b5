import type { Interface } from "node:readline";
import { releaseInput } from "./early-input.js";

/** The streams of a `LineReader`, and what it needs from its process. */
interface LineSource {
  readonly input: NodeJS.ReadableStream;
  /** For questions, and the echo of the input. */
  readonly output: NodeJS.WritableStream;
  /** Called on Ctrl-C while a question is open. */
  readonly onInterrupt: () => void;
  readonly startDelay: StartDelay;
}

/** Receives a line that was typed before answers were accepted. */
type TakeEarly = (line: string) => void;

/**
 * Asks the user for lines, on any terminal. Lines typed ahead answer the next questions.
 *
 * @example
 * const name = await reader.ask("> ");
 * const answer = await reader.ask("Run it? (y/n) ", (line) => messages.push(line));
 */
export class LineReader {
  readonly #source: LineSource;
  /** Lines typed ahead, for the next questions. */
  readonly #typedAhead: string[] = [];
  /** The beginning of a line that was not finished when the last question ended. */
  #unfinished = "";

  constructor(source: LineSource) {
    this.#source = source;
  }

  /**
   * The next line; undefined: the input has ended. With `takeEarly` a line is an answer only if its first key came at least
   * 0.8 s after the question was printed and no other line came with it. All other lines go to `takeEarly`.
   */
  async ask(question: string, takeEarly?: TakeEarly): Promise<string | undefined> {
    releaseInput();
    if (takeEarly !== undefined) for (const line of this.#typedAhead.splice(0)) takeEarly(line);
    const line = this.#typedAhead.shift();
    if (line !== undefined) {
      this.#source.output.write(`${question}${line}\n`);
      return line;
    }
    const { createInterface } = await import("node:readline");
    const { input, output } = this.#source;
    return this.#read(createInterface({ input, output, prompt: question }), takeEarly);
  }

  /** The next line, which is not shown while it is typed; undefined: the input has ended. */
  async askSecret(question: string): Promise<string | undefined> {
    releaseInput();
    const ahead = this.#typedAhead.shift();
    if (ahead !== undefined) {
      this.#source.output.write(`${question}\n`);
      return ahead;
    }
    const [{ createInterface }, { Writable }] = await Promise.all([import("node:readline"), import("node:stream")]);
    const { input, output } = this.#source;
    const unseen = new Writable({ write: (_piece, _encoding, done) => done() });
    const lines = createInterface({ input, output: unseen, terminal: true });
    // The terminal shows no keys from here on; asked before, the first ones could be seen.
    output.write(question);
    lines.once("SIGINT", () => this.#interrupt());
    const received: string[] = [];
    await new Promise<void>((resolve) => {
      // Pasted lines are emitted in one turn of the event loop: the others answer the next questions.
      lines.on("line", (line) => received.push(line) === 1 && setImmediate(resolve));
      lines.once("close", resolve);
    });
    lines.close();
    output.write("\n");
    const [answer, ...others] = received;
    this.#typedAhead.push(...others);
    return answer;
  }

  /** The next output, such as the prompt of the shell, starts on a line of its own. */
  #interrupt(): void {
    this.#source.output.write("\n");
    this.#source.onInterrupt();
  }

  #read(lines: Interface, takeEarly: TakeEarly | undefined): Promise<string | undefined> {
    const { startDelay } = this.#source;
    const later = takeEarly === undefined ? undefined : new LaterLine(lines, takeEarly);
    const answerOf = (typed: readonly string[]): string | undefined => {
      if (later !== undefined) return later.answerOf(typed);
      // The first line is the answer; the others answer later questions.
      this.#typedAhead.push(...typed.slice(1));
      return typed[0];
    };
    return new Promise((resolve) => {
      let cancelDelay: () => void = () => undefined;
      let isOver = false;
      const received: string[] = [];
      const end = (answer: string | undefined): void => {
        isOver = true;
        cancelDelay();
        this.#unfinished = answer === undefined ? "" : lines.line;
        lines.close();
        resolve(answer);
      };
      const prompt = (): void => {
        lines.prompt();
        cancelDelay();
        if (later?.isOpen === false) cancelDelay = startDelay(() => later.open());
      };
      const answer = (): void => {
        if (isOver) return;
        const found = answerOf(received.splice(0));
        if (found === undefined) prompt();
        else end(found);
      };
      lines.on("line", (line) => {
        // Pasted lines are emitted in one turn of the event loop and processed together.
        if (received.push(line) === 1) setImmediate(answer);
      });
      lines.once("close", () => {
        if (isOver) return;
        const last = answerOf(received.splice(0));
        // Ctrl-D ends no line, as Enter does.
        if (last === undefined) this.#source.output.write("\n");
        end(last);
      });
      lines.once("SIGINT", () => this.#interrupt());
      prompt();
      if (this.#unfinished !== "") lines.write(this.#unfinished);
    });
  }
}

/** Only a line that was begun after `open` and came alone is the answer. */
class LaterLine {
  isOpen = false;
  /** The current line was begun before `open`. */
  #isEarly = false;
  readonly #lines: Interface;
  readonly #takeEarly: TakeEarly;

  constructor(lines: Interface, takeEarly: TakeEarly) {
    this.#lines = lines;
    this.#takeEarly = takeEarly;
  }

  open(): void {
    this.isOpen = true;
    this.#isEarly = this.#lines.line !== "";
  }

  answerOf(lines: readonly string[]): string | undefined {
    const [line] = lines;
    if (this.isOpen && !this.#isEarly && lines.length === 1 && this.#lines.line === "") return line;
    for (const early of lines) this.#takeEarly(early);
    this.#isEarly = this.#lines.line !== "";
    return undefined;
  }
}

// Longer than the delay before a held key repeats, which is at most 660 ms.
const STEPS = 8;
const STEP_MS = 100;

/** Starts a delay that calls `then` at its end; returns a function that cancels it. */
export type StartDelay = (then: () => void) => () => void;

/**
 * A delay of 800 ms. Keys within the first 800 ms do not count as an answer. `then` runs after the input that has arrived by that
 * time has been read.
 * The delay is counted in steps, so that it does not elapse while the process is blocked and has not drawn the question.
 */
export const startAnswerDelay: StartDelay = (then) => {
  let left = STEPS;
  let reading: NodeJS.Immediate | undefined;
  const step = setInterval(() => {
    left -= 1;
    if (left > 0) return;
    clearInterval(step);
    // Node runs timers before it reads input, and immediates after it.
    reading = setImmediate(then);
  }, STEP_MS);
  return () => {
    clearInterval(step);
    if (reading !== undefined) clearImmediate(reading);
  };
};
