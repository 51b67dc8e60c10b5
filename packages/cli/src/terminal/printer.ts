import { type Glyphs, glyphsFor } from "./glyphs.js";
import type { Io } from "./io.js";
import { type Line, paintLine } from "./line.js";
import { safeJson } from "./safe.js";

/** How much text is gathered before it is written, in UTF-16 code units. */
const BUFFER = 1 << 16;

/** Width of what is written where there is no terminal. */
const DEFAULT_WIDTH = 100;

/**
 * The one way from a command to its outputs. Lines go through `safe`; documents of a format that is its own protection
 * (JSON, exported files) go through `document`.
 */
export class Printer {
  readonly glyphs: Glyphs;
  #buffer = "";

  constructor(private readonly io: Io) {
    this.glyphs = glyphsFor(io.env);
  }

  /** Columns to fill. */
  get width(): number {
    return Math.max(this.io.stdout.columns ?? DEFAULT_WIDTH, 20);
  }

  /** One line of the command's answer. */
  line(...line: Line): void {
    this.#buffer += `${paintLine(line, this.io.stdout.color)}\n`;
  }

  /** A piece of a document, as it stands. */
  document(text: string): void {
    this.#buffer += text;
  }

  /** A whole JSON document. */
  json(value: unknown): void {
    this.document(`${safeJson(JSON.stringify(value, null, 2))}\n`);
  }

  /** Writes what was gathered, once it is much. To be awaited in loops of unknown length. */
  async pump(): Promise<void> {
    if (this.#buffer.length >= BUFFER) await this.flush();
  }

  /** Writes what was gathered. */
  async flush(): Promise<void> {
    const text = this.#buffer;
    this.#buffer = "";
    if (text !== "") await this.io.stdout.write(text);
  }

  /** One line beside the answer: what was chosen, how far it is, what went wrong. */
  async note(...line: Line): Promise<void> {
    await this.flush();
    await this.io.stderr.write(`${paintLine(line, this.io.stderr.color)}\n`);
  }
}
