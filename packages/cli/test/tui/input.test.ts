import { once } from "node:events";
import { PassThrough } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeSequence } from "../../src/tui/decode.js";
import { SequenceSplitter, TerminalInput } from "../../src/tui/input.js";

const ESC = "\u001b";

/** The sequences of chunks that arrive one after the other, and what is left at the end. */
function split(...chunks: readonly string[]): readonly string[] {
  const splitter = new SequenceSplitter();
  const sequences = chunks.flatMap((chunk) => splitter.push(chunk));
  const rest = splitter.flush();
  return rest === "" ? sequences : [...sequences, rest];
}

/** The keys and texts that chunks mean. */
function eventsOf(chunks: readonly string[]): readonly string[] {
  return split(...chunks)
    .flatMap(decodeSequence)
    .map((event) => {
      if (event.kind === "key") return event.key;
      if (event.kind === "paste") return `paste:${event.text}`;
      return event.kind === "mouse" ? `${event.action} ${event.column},${event.row}` : event.kind;
    });
}

describe("input is split into sequences", () => {
  it.each([
    ["keys and text between them", `ab${ESC}[Acd${ESC}OB`, ["ab", `${ESC}[A`, "cd", `${ESC}OB`]],
    [
      "a modifier, a code point, a report of the mouse",
      `${ESC}[1;5D${ESC}[13;2u${ESC}[<0;3;4M`,
      [`${ESC}[1;5D`, `${ESC}[13;2u`, `${ESC}[<0;3;4M`],
    ],
    ["Alt and a character, Alt and a key", `${ESC}b${ESC}${ESC}[C${ESC}你`, [`${ESC}b`, `${ESC}${ESC}[C`, `${ESC}你`]],
    ["a function key of the Linux console", `${ESC}[[Ax`, [`${ESC}[[A`, "x"]],
    ["Escape twice", `${ESC}${ESC}`, [`${ESC}${ESC}`]],
    ["a sequence that another one breaks off", `${ESC}[<0;3${ESC}[A`, [`${ESC}[<0;3`, `${ESC}[A`]],
    ["a sequence that a control character breaks off", `${ESC}[1;\u0003`, [`${ESC}[1;`, "\u0003"]],
    ["a paste with an escape sequence in it", `${ESC}[200~a${ESC}[Ab${ESC}[201~c`, [`${ESC}[200~a${ESC}[Ab${ESC}[201~`, "c"]],
  ])("%s", (_name, input, sequences) => {
    expect(split(input)).toEqual(sequences);
  });

  it("replies to queries of an earlier program type nothing", () => {
    expect(eventsOf([`${ESC}]11;rgb:1e1e/1e1e/1e1e\u0007a`])).toEqual(["a"]);
    expect(eventsOf([`${ESC}]10;rgb:ff`, `/ff/ff${ESC}`, `\\b${ESC}P1$r0m${ESC}\\c`])).toEqual(["b", "c"]);
    expect(eventsOf([`${ESC}]`, `${ESC}P`, "x"])).toEqual(["alt+]", "alt+P", "x"]);
  });

  it("waits for the rest of a sequence, longer where no key is sent like this, and not inside a paste", () => {
    const patienceAfter = (input: string) => {
      const splitter = new SequenceSplitter();
      splitter.push(input);
      return splitter.patienceMs;
    };
    expect([`a`, `${ESC}[A`, `${ESC}[200~text${ESC}[20`, `${ESC}[<0;1`].map(patienceAfter)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    const [lone = 0, sequence = 0] = [ESC, `${ESC}[1;`].map(patienceAfter);
    // A held key repeats after 30 ms.
    expect(lone).toBeLessThan(30);
    expect(sequence).toBeGreaterThan(lone);
  });

  it("the end of a paste counts, however late its parts arrive", () => {
    expect(eventsOf([`${ESC}[200~rm`, ` -rf${ESC}`, "[20", "1~q"])).toEqual(["paste:rm -rf", "q"]);
  });

  it("what begins like a sequence and does not end is given up after some thousand characters", () => {
    const splitter = new SequenceSplitter();
    const digits = "1".repeat(1_000);
    const sequences = [`${ESC}[`, ...Array.from({ length: 10 }, () => digits)].flatMap((chunk) => splitter.push(chunk));
    expect(sequences.join("").length).toBeGreaterThan(4_000);
    expect(splitter.push("A")).toHaveLength(1);
  });

  it("the division of the input into chunks does not matter", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "a",
        "你",
        " ",
        "\r",
        "\u0003",
        `${ESC}[A`,
        `${ESC}[1;5D`,
        `${ESC}OP`,
        `${ESC}[<64;10;5M`,
        `${ESC}b`,
        `${ESC}${ESC}[C`,
      ),
      fc.constantFrom("one", `${ESC}[B`, "\r").map((text) => `${ESC}[200~${text}${ESC}[201~`),
      fc.constant(`${ESC}]11;rgb:0/0/0${ESC}\\`),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.infiniteStream(fc.integer({ min: 1, max: 5 })), (pieces, lengths) => {
        const input = pieces.join("");
        const chunks: string[] = [];
        for (let from = 0; from < input.length; ) {
          const length = lengths.next().value;
          chunks.push(input.slice(from, from + length));
          from += length;
        }
        expect(eventsOf(chunks)).toEqual(eventsOf([input]));
      }),
    );
  });
});

/** A terminal's input stream, with what is read from it. */
function reading(onSequence: (sequence: string, input: TerminalInput) => void) {
  const modes: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), { setRawMode: (on: boolean) => void modes.push(on), ref: () => undefined });
  const input: TerminalInput = new TerminalInput(stdin, (sequence) => onSequence(sequence, input));
  return { stdin, input, modes };
}

describe("a terminal that is read", () => {
  it("puts the bytes of a character together", async () => {
    const text = await new Promise((resolve) => {
      const { stdin, input } = reading((sequence) => resolve(sequence));
      input.start();
      for (const byte of Buffer.from("你")) stdin.write(Buffer.from([byte]));
    });
    expect(text).toBe("你");
  });

  it("passes on Escape alone, once nothing follows it", async () => {
    const sequence = await new Promise((resolve) => {
      const { stdin, input } = reading(resolve);
      input.start();
      stdin.write(ESC);
    });
    expect(sequence).toBe(ESC);
  });

  it("keeps what follows the last key for the next reader", async () => {
    const sequences: string[] = [];
    const { stdin, input, modes } = reading((sequence, own) => {
      sequences.push(sequence);
      if (sequence === `${ESC}[A`) own.stop();
    });
    input.start();
    stdin.write(`j${ESC}[Anext`);
    while (modes.at(-1) !== false) await once(stdin, "pause");
    expect(sequences).toEqual(["j", `${ESC}[A`]);
    const [next] = await Promise.all([once(stdin, "data"), stdin.resume()]);
    expect(String(next[0])).toBe("next");
  });

  it("leaves the beginning of a paste to the next reader", async () => {
    const { stdin, input } = reading(() => undefined);
    input.start();
    await Promise.all([once(stdin, "data"), stdin.write(`${ESC}[200~rm`)]);
    input.stop();
    const sequence = new Promise((resolve) => new TerminalInput(stdin, resolve).start());
    stdin.write(` -rf${ESC}[201~`);
    expect(await sequence).toBe(`${ESC}[200~rm -rf${ESC}[201~`);
  });
});
