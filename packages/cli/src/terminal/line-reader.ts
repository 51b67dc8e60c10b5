import type { Interface } from "node:readline";

/** What a reader of lines reads from, and what it cannot do itself. */
export interface LineSource {
  readonly input: NodeJS.ReadableStream;
  /** Where questions and what is typed are shown. */
  readonly output: NodeJS.WritableStream;
  /** Ctrl-C while a question stands. */
  readonly onInterrupt: () => void;
  readonly afterMoment: AfterMoment;
}

/** Takes a line that was typed before the question could be answered. */
export type TakeEarly = (line: string) => void;

/**
 * Asks a person for lines, on any terminal. What is typed faster than it is asked for is kept for the next question.
 *
 * @example
 * const name = await reader.ask("> ");
 * const answer = await reader.ask("May it run? y/n ", (line) => messages.push(line));
 */
export class LineReader {
  readonly #source: LineSource;
  /** Lines that nobody has asked for yet. */
  readonly #ahead: string[] = [];
  /** What was typed of a line that has no end yet. */
  #begun = "";

  constructor(source: LineSource) {
    this.#source = source;
  }

  /**
   * The next line; undefined: the input has ended. With `takeEarly` only a line counts that was typed from its first key
   * after the question had stood for a moment, and that came alone: every other line is handed to `takeEarly`.
   */
  async ask(question: string, takeEarly?: TakeEarly): Promise<string | undefined> {
    if (takeEarly !== undefined) for (const line of this.#ahead.splice(0)) takeEarly(line);
    const ahead = this.#ahead.shift();
    if (ahead !== undefined) {
      this.#source.output.write(`${question}${ahead}\n`);
      return ahead;
    }
    const { createInterface } = await import("node:readline");
    const { input, output } = this.#source;
    return this.#read(createInterface({ input, output, prompt: question }), takeEarly);
  }

  #read(lines: Interface, takeEarly: TakeEarly | undefined): Promise<string | undefined> {
    const { onInterrupt, afterMoment } = this.#source;
    const judge = takeEarly === undefined ? new FirstLine(this.#ahead) : new ConsideredLine(lines, takeEarly);
    return new Promise((resolve) => {
      let cancelMoment: () => void = () => undefined;
      let isOver = false;
      const came: string[] = [];
      const end = (answer: string | undefined): void => {
        isOver = true;
        cancelMoment();
        this.#begun = answer === undefined ? "" : lines.line;
        lines.close();
        resolve(answer);
      };
      const wait = (): void => {
        lines.prompt();
        cancelMoment();
        if (!judge.isOpen) cancelMoment = afterMoment(() => judge.open());
      };
      const settle = (): void => {
        if (isOver) return;
        const answer = judge.answerOf(came.splice(0));
        if (answer === undefined) wait();
        else end(answer);
      };
      lines.on("line", (line) => {
        // Lines that are pasted come together.
        if (came.push(line) === 1) setImmediate(settle);
      });
      lines.once("close", () => isOver || end(judge.answerOf(came.splice(0))));
      lines.once("SIGINT", onInterrupt);
      wait();
      if (this.#begun !== "") lines.write(this.#begun);
    });
  }
}

/** The first line answers; the others are for the questions after it. */
class FirstLine {
  readonly isOpen = true;
  readonly #ahead: string[];

  constructor(ahead: string[]) {
    this.#ahead = ahead;
  }

  open(): void {}

  answerOf([first, ...rest]: readonly string[]): string | undefined {
    this.#ahead.push(...rest);
    return first;
  }
}

/** A line answers that a person typed when they had seen the question. */
class ConsideredLine {
  isOpen = false;
  /** The line that is being typed began too early. */
  #isBegun = false;
  readonly #lines: Interface;
  readonly #takeEarly: TakeEarly;

  constructor(lines: Interface, takeEarly: TakeEarly) {
    this.#lines = lines;
    this.#takeEarly = takeEarly;
  }

  open(): void {
    this.isOpen = true;
    this.#isBegun = this.#lines.line !== "";
  }

  answerOf(lines: readonly string[]): string | undefined {
    const [line] = lines;
    if (this.isOpen && !this.#isBegun && lines.length === 1 && this.#lines.line === "") return line;
    for (const early of lines) this.#takeEarly(early);
    this.#isBegun = this.#lines.line !== "";
    return undefined;
  }
}

// Longer than the 660 ms at most after which a key that is held down begins to repeat.
const STEPS = 8;
const STEP_MS = 100;

/** Calls `then` once a moment has passed, and gives what cancels that. */
export type AfterMoment = (then: () => void) => () => void;

/**
 * After 800 ms, and after what was typed by then has been read. The time is counted in steps, so that a process that
 * stands still does not use it up before it has drawn what a person is to see.
 */
export const afterMoment: AfterMoment = (then) => {
  let left = STEPS;
  let reading: NodeJS.Immediate | undefined;
  const step = setInterval(() => {
    left -= 1;
    if (left > 0) return;
    clearInterval(step);
    // Timers run before input is read, and immediates after it.
    reading = setImmediate(then);
  }, STEP_MS);
  return () => {
    clearInterval(step);
    if (reading !== undefined) clearImmediate(reading);
  };
};
