import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { LineReader } from "../../src/terminal/line-reader.js";

/** A person at a terminal that hands over whole lines; moments pass when the test says so. */
class Person {
  readonly #input = new PassThrough();
  readonly #output = new PassThrough({ encoding: "utf8" });
  #moments: (() => void)[] = [];
  readonly early: string[] = [];
  interruptions = 0;

  constructor({ isTerminal = false } = {}) {
    // Where it is a terminal, each key is seen as it is typed.
    Object.assign(this.#output, { isTTY: isTerminal, columns: 80 });
  }

  readonly reader = new LineReader({
    input: this.#input,
    output: this.#output,
    onInterrupt: () => {
      this.interruptions += 1;
    },
    startDelay: (then) => {
      this.#moments.push(then);
      return () => {
        this.#moments = this.#moments.filter((one) => one !== then);
      };
    },
  });

  /** A question whose answer must be considered. */
  asked(): Promise<string | undefined> {
    return this.reader.ask("May it? ", (line) => this.early.push(line));
  }

  /** What is read in one piece. Resolves when it was dealt with. */
  async types(text: string): Promise<void> {
    this.#input.write(text);
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Lets a moment pass once a question waits for it. */
  async moment(): Promise<void> {
    while (this.#moments.length === 0) await new Promise((resolve) => setImmediate(resolve));
    for (const passed of this.#moments.splice(0)) passed();
  }

  leaves(): void {
    this.#input.end();
  }

  get seen(): string {
    return this.#output.read() ?? "";
  }
}

describe("a question for a secret", () => {
  test("takes the first line of what is pasted, the next question the second, and neither is shown", async () => {
    const person = new Person({ isTerminal: true });
    const first = person.reader.askSecret("Password: ");
    await person.types("one two\nthree\n");
    expect([await first, await person.reader.askSecret("Again: ")]).toEqual(["one two", "three"]);
    expect(person.seen).toBe("Password: \nAgain: \n");
  });

  test("ends with the input", async () => {
    const person = new Person();
    const answer = person.reader.askSecret("Password: ");
    await person.types("");
    person.leaves();
    expect(await answer).toBeUndefined();
  });
});

describe("a question for a line", () => {
  test("takes the first line; later lines, also an unfinished one, answer the next questions", async () => {
    const person = new Person();
    const first = person.reader.ask("> ");
    await person.types("one\ntwo\nthree\n");
    expect([await first, await person.reader.ask("> "), await person.reader.ask("> ")]).toEqual(["one", "two", "three"]);
    expect(person.seen).toBe("> > two\n> three\n");
  });

  test("resolves to undefined at the end of the input, and ends the line of the question", async () => {
    const person = new Person();
    const asked = person.reader.ask("> ");
    person.leaves();
    expect(await asked).toBeUndefined();
    expect(person.seen).toBe("> \n");
  });
});

test.each([
  ["a line", (person: Person) => person.reader.ask("Password: ")],
  ["a secret", (person: Person) => person.reader.askSecret("Password: ")],
])("Ctrl-C at a question for %s ends the line of the question", async (_, ask) => {
  const person = new Person({ isTerminal: true });
  const answer = ask(person);
  await person.types("abc\u0003");
  expect([person.seen.endsWith("\n"), person.interruptions]).toEqual([true, 1]);
  person.leaves();
  await answer;
});

describe("a question with an answer delay", () => {
  test("is answered by a line that was typed after the delay", async () => {
    const person = new Person();
    const answer = person.asked();
    await person.moment();
    await person.types("y\n");
    expect([await answer, person.early]).toEqual(["y", []]);
  });

  test("is not answered by a line from before it, nor during the delay", async () => {
    const person = new Person();
    const first = person.reader.ask("> ");
    await person.types("go\ny\n");
    await first;
    const answer = person.asked();
    await person.types("y\n");
    await person.moment();
    await person.types("n\n");
    expect([await answer, person.early]).toEqual(["n", ["y", "y"]]);
  });

  test("is not answered by several lines at once", async () => {
    const person = new Person();
    const answer = person.asked();
    await person.moment();
    await person.types("y\nand then this\n");
    await person.types("n\n");
    expect([await answer, person.early]).toEqual(["n", ["y", "and then this"]]);
  });

  test("is not answered by a line that was begun during the delay", async () => {
    const person = new Person({ isTerminal: true });
    const answer = person.asked();
    await person.types("y");
    await person.moment();
    await person.types("\r");
    await person.types("n\r");
    expect([await answer, person.early]).toEqual(["n", ["y"]]);
  });

  test("is not answered by a line that was begun at the previous question", async () => {
    const person = new Person({ isTerminal: true });
    const first = person.reader.ask("> ");
    await person.types("go\ry");
    await first;
    const answer = person.asked();
    await person.moment();
    await person.types("es\r");
    await person.types("n\r");
    expect([await answer, person.early]).toEqual(["n", ["yes"]]);
  });

  test("has no answer at the end of the input", async () => {
    const person = new Person();
    const answer = person.asked();
    await person.types("y");
    person.leaves();
    expect(await answer).toBeUndefined();
  });
});
