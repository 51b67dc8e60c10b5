import { Buffer } from "node:buffer";
import { type Glyphs, glyphsFor } from "./glyphs.js";
import type { Io } from "./io.js";
import { fitLine, type Line, paintLine } from "./line.js";
import { Pager, type ReadPagerSetting } from "./pager.js";
import { safeJson } from "./safe.js";

/** Size from which `pump` writes the buffer, in UTF-16 code units. */
const BUFFER = 1 << 16;

/** The same with a pager: some screens, so that the first one is shown at once. */
const PAGED_BUFFER = 1 << 14;

/** Width of the output where there is no terminal. */
const DEFAULT_WIDTH = 100;

/**
 * Prints the output of a command. Lines are made safe for terminals; documents in a format that does its own escaping (JSON,
 * exported files) are printed as they are.
 */
export class Printer {
  readonly glyphs: Glyphs;
  /** True if ids are printed in full instead of their shortest prefixes: `--full-ids`. */
  fullIds = false;
  /** ` --store …` as it was given; empty: it was not, and the next command finds the same store without it. */
  storeOption = "";
  readonly #io: Io;
  #buffer = "";
  #pager: Pager | undefined;

  constructor(io: Io) {
    this.#io = io;
    this.glyphs = glyphsFor(io.env);
  }

  /** Columns to fill; at least 20. */
  get width(): number {
    return Math.max(this.#io.stdout.columns ?? DEFAULT_WIDTH, 20);
  }

  /** True if the output has no width, because it goes to a pipe or a file. Programs that read it need every row, whole. */
  get isUnbounded(): boolean {
    return this.#io.stdout.columns === undefined;
  }

  /** A command of Bough for the same store, as a person types it. `rest`: what stands behind `bough`. */
  command(rest: string): string {
    return `bough ${rest}${this.storeOption}`;
  }

  /** Buffers one line of the output. */
  line(...line: Line): void {
    this.#buffer += `${paintLine(line, this.#io.stdout.color)}\n`;
  }

  /** Prints lines, and writes the buffer whenever it is large. */
  async lines(lines: Iterable<Line>): Promise<void> {
    for (const line of lines) {
      this.line(...line);
      await this.pump();
    }
  }

  /** Buffers one line of the output, cut to its width. */
  fitted(...line: Line): void {
    this.line(...fitLine(line, this.width, this.glyphs.ellipsis));
  }

  /** Buffers a part of a document, unchanged. */
  document(text: string): void {
    this.#buffer += text;
  }

  /** Buffers a value as a JSON document. */
  json(value: unknown): void {
    this.document(`${safeJson(toPrintedJson(value) ?? "null")}\n`);
  }

  /** Buffers a value as one line of JSON. */
  jsonLine(value: object): void {
    this.document(`${safeJson(JSON.stringify(value))}\n`);
  }

  /** From now on, output that is longer than the screen goes through a pager, if stdout is a terminal. */
  page(readSetting: ReadPagerSetting): void {
    const { pagerTerminal } = this.#io;
    if (pagerTerminal !== undefined) this.#pager ??= new Pager(this.#io, pagerTerminal, readSetting);
  }

  /** Writes the buffer if it is large. Await it in loops that print many lines. */
  async pump(): Promise<void> {
    if (this.#buffer.length >= (this.#pager === undefined ? BUFFER : PAGED_BUFFER)) await this.flush();
  }

  /** Writes the buffer. With a pager, text that fits the screen stays in the buffer: more may follow. */
  async flush(): Promise<void> {
    const text = this.#buffer;
    if (text === "" || this.#isHeldBack(text)) return;
    this.#buffer = "";
    await (this.#pager ?? this.#io.stdout).write(text);
  }

  #isHeldBack(text: string): boolean {
    return this.#pager !== undefined && !this.#pager.isRunning && !this.#pager.exceedsScreen(text);
  }

  /** Writes what is left, and waits until the user has quit the pager. */
  async end(): Promise<void> {
    await this.flush();
    const rest = this.#buffer;
    this.#buffer = "";
    if (rest !== "") await this.#io.stdout.write(rest);
    await this.#pager?.end();
  }

  /** Writes one line to stderr: a choice that was made, progress, a warning. On a terminal with paged text it is a line of that text. */
  async note(...line: Line): Promise<void> {
    const text = `${paintLine(line, this.#io.stderr.color)}\n`;
    const isPaged = this.#pager !== undefined && (this.#pager.isRunning || this.#buffer !== "");
    if (isPaged && this.#io.stderr.isTerminal) return this.document(text);
    await this.flush();
    await this.#io.stderr.write(text);
  }
}

/** A value as indented JSON; bytes in the data of a host as in a session file, by their base64: { "$bough.bytes": "AAEC" }. */
export function toPrintedJson(value: unknown): string | undefined {
  return JSON.stringify(value, (_name, member: unknown) => (member instanceof Uint8Array ? toNamedBase64(member) : member), 2);
}

function toNamedBase64(bytes: Uint8Array): object {
  return { "$bough.bytes": Buffer.from(bytes).toString("base64") };
}
