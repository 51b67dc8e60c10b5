import { StringDecoder } from "node:string_decoder";

const ESC = "\u001b";
export const PASTE_START = `${ESC}[200~`;
export const PASTE_END = `${ESC}[201~`;

/**
 * One sequence from its first byte, by ECMA-48: CSI and SS3, also after a second escape character for Alt; `ESC [ [ A` of the Linux
 * console; replies to queries of an earlier program (OSC, DCS), which end with BEL or ST; else an escape character and one character.
 */
const SEQUENCE =
  /\u001b{1,2}(?:\[\[?[ -?]*[@-~]|O[@-~])|\u001b(?:\]\d+;|P\d?[$+>|])[^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b(?:\u001b(?![[O])|[^\u001b[O])/uy;
/** The beginning of a sequence, up to the end of the input. */
const UNFINISHED = /\u001b{1,2}(?:\[\[?[ -?]*|O)?$|\u001b(?:\]\d*|P\d?|(?:\]\d+;|P\d?[$+>|])[^\u0007\u001b]*\u001b?)$/y;
/** A sequence that a control character or a character outside of ASCII breaks off. */
const BROKEN = /\u001b{1,2}(?:\[\[?[ -?]*|O)/y;
/** A report of the mouse, or the beginning of one. */
const MOUSE = /\u001b\[<[\d;]*[Mm]?/y;

/** A longer beginning of a sequence is none, in UTF-16 code units. */
const MAX_UNFINISHED = 4_096;

/**
 * Splits terminal input into sequences for `decodeSequence`: an escape sequence is one string, so is a bracketed paste with both brackets,
 * and so is the text between two of them. The beginning of a sequence waits for its end.
 */
export class SequenceSplitter {
  /** The beginning of a sequence, in the pieces in which it came. */
  #waiting: string[] = [];
  #isPaste = false;
  /** Its end, where the end of a paste may have begun. */
  #tail = "";

  /** The sequences that `chunk` completes, in order. */
  push(chunk: string): string[] {
    this.#waiting.push(chunk);
    const tail = this.#tail + chunk;
    this.#tail = tail.slice(1 - PASTE_END.length);
    // A terminal gives 4 kB at a time: the pieces of a long paste are joined and searched once.
    if (this.#isPaste && !tail.includes(PASTE_END)) return [];
    const input = this.flush();
    const sequences: string[] = [];
    let from = 0;
    while (from < input.length) {
      const piece = pieceAt(input, from);
      if (piece === undefined) break;
      sequences.push(piece);
      from += piece.length;
    }
    this.#wait(input.slice(from));
    return sequences;
  }

  #wait(rest: string): void {
    if (rest !== "") this.#waiting.push(rest);
    this.#isPaste = rest.startsWith(PASTE_START);
    this.#tail = rest.slice(1 - PASTE_END.length);
  }

  /**
   * Time to wait for the rest of a sequence that has begun, in milliseconds; undefined: none has begun, or it is a paste or a report of the
   * mouse, whose end always follows.
   */
  get patienceMs(): number | undefined {
    const [waiting = ""] = this.#waiting;
    if (waiting === "" || this.#isPaste || waiting.startsWith(`${ESC}[<`)) return undefined;
    return waiting.length > 2 ? SEQUENCE_MS : KEY_MS;
  }

  /** The beginning of a sequence as it is: the key Escape, Alt and a bracket, or a sequence that was broken off. */
  flush(): string {
    const waiting = this.#waiting.join("");
    this.#waiting = [];
    this.#isPaste = false;
    this.#tail = "";
    return waiting;
  }
}

// Escape, Alt-[ and Alt-O are beginnings of sequences too. Less than the 30 ms after which a held key repeats.
const KEY_MS = 20;
const SEQUENCE_MS = 500;

/** The next sequence or text; undefined: the rest of it is missing. */
function pieceAt(input: string, from: number): string | undefined {
  const start = input.indexOf(ESC, from);
  if (start !== from) return input.slice(from, start < 0 ? undefined : start);
  if (input.startsWith(PASTE_START, from)) {
    const end = input.indexOf(PASTE_END, from);
    return end < 0 ? undefined : input.slice(from, end + PASTE_END.length);
  }
  const mouse = matchAt(MOUSE, input, from);
  if (mouse !== undefined) return /[Mm]$/.test(mouse) || from + mouse.length < input.length ? mouse : undefined;
  if (input.length - from <= MAX_UNFINISHED && matchAt(UNFINISHED, input, from) !== undefined) return undefined;
  return matchAt(SEQUENCE, input, from) ?? matchAt(BROKEN, input, from) ?? ESC;
}

function matchAt(pattern: RegExp, input: string, from: number): string | undefined {
  pattern.lastIndex = from;
  return pattern.exec(input)?.[0];
}

/** The part of a terminal's input stream that this needs. */
interface RawInput {
  setRawMode(on: boolean): unknown;
  on(event: "data", listener: (data: Buffer | string) => void): unknown;
  off(event: "data", listener: (data: Buffer | string) => void): unknown;
  ref(): unknown;
  resume(): unknown;
  pause(): unknown;
  unshift(data: Buffer): void;
}

/** Reads a terminal in raw mode and passes on each sequence. While it reads, it keeps the process alive. */
export class TerminalInput {
  readonly #stdin: RawInput;
  readonly #onSequence: (sequence: string) => void;
  readonly #splitter = new SequenceSplitter();
  readonly #characters = new StringDecoder("utf8");
  #isReading = false;
  #cancelFlush: () => void = () => undefined;

  constructor(stdin: RawInput, onSequence: (sequence: string) => void) {
    this.#stdin = stdin;
    this.#onSequence = onSequence;
  }

  start(): void {
    this.#isReading = true;
    this.#stdin.setRawMode(true);
    this.#stdin.on("data", this.#onData);
    this.#stdin.ref();
    this.#stdin.resume();
  }

  /** Ends raw mode. Input that was read and not passed on goes to the next reader of the stream. Idempotent. */
  stop(): void {
    this.#cancelFlush();
    if (this.#isReading) {
      this.#isReading = false;
      this.#stdin.off("data", this.#onData);
      this.#stdin.pause();
      this.#putBack(this.#splitter.flush());
    }
    this.#stdin.setRawMode(false);
  }

  #putBack(input: string): void {
    if (input !== "") this.#stdin.unshift(Buffer.from(input));
  }

  readonly #onData = (data: Buffer | string) => {
    this.#cancelFlush();
    this.#passOn(this.#splitter.push(typeof data === "string" ? data : this.#characters.write(data)));
    const waitMs = this.#splitter.patienceMs;
    if (this.#isReading && waitMs !== undefined) this.#flushIn(waitMs);
  };

  #passOn(sequences: readonly string[]): void {
    let next = 0;
    for (; next < sequences.length && this.#isReading; next += 1) this.#onSequence(sequences[next] ?? "");
    if (!this.#isReading) this.#putBack(sequences.slice(next).join(""));
  }

  #flushIn(waitMs: number): void {
    let flush: NodeJS.Immediate | undefined;
    const timer = setTimeout(() => {
      // Node runs timers before it reads input, and immediates after it: the rest may have arrived while the process was blocked.
      flush = setImmediate(() => this.#passOn([this.#splitter.flush()]));
    }, waitMs);
    this.#cancelFlush = () => {
      clearTimeout(timer);
      clearImmediate(flush);
    };
  }
}
