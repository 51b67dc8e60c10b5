import { type Glyphs, glyphsFor } from "./glyphs.js";
import type { Io } from "./io.js";
import { type Line, paintLine } from "./line.js";
import { toPrintedJson } from "./printed-json.js";
import { safeJson } from "./safe.js";

/** Size from which `pump` writes the buffer, in UTF-16 code units. */
const BUFFER = 1 << 16;

/** Width of the output where there is no terminal. */
const DEFAULT_WIDTH = 100;

/**
 * Prints the output of a command. Lines are made safe for terminals; documents in a format that does its own escaping (JSON,
 * exported files) are printed as they are.
 */
export class Printer {
  readonly glyphs: Glyphs;
  readonly #io: Io;
  #buffer = "";

  constructor(io: Io) {
    this.#io = io;
    this.glyphs = glyphsFor(io.env);
  }

  /** Columns to fill; at least 20. */
  get width(): number {
    return Math.max(this.#io.stdout.columns ?? DEFAULT_WIDTH, 20);
  }

  /** Buffers one line of the output. */
  line(...line: Line): void {
    this.#buffer += `${paintLine(line, this.#io.stdout.color)}\n`;
  }

  /** Buffers a part of a document, unchanged. */
  document(text: string): void {
    this.#buffer += text;
  }

  /** Buffers a value as a JSON document. */
  json(value: unknown): void {
    this.document(`${safeJson(toPrintedJson(value) ?? "null")}\n`);
  }

  /** Writes the buffer if it is large. Await it in loops that print many lines. */
  async pump(): Promise<void> {
    if (this.#buffer.length >= BUFFER) await this.flush();
  }

  /** Writes the buffer. */
  async flush(): Promise<void> {
    const text = this.#buffer;
    this.#buffer = "";
    if (text !== "") await this.#io.stdout.write(text);
  }

  /** Writes one line to stderr: a choice that was made, progress, a warning. */
  async note(...line: Line): Promise<void> {
    await this.flush();
    await this.#io.stderr.write(`${paintLine(line, this.#io.stderr.color)}\n`);
  }
}
