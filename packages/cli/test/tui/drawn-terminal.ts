import xterm from "@xterm/headless";

/** An xterm emulator that is written to, and its screen as text. */
export class DrawnTerminal {
  readonly #terminal: xterm.Terminal;
  /** The bytes of each write. */
  readonly writes: string[] = [];
  #written: Promise<void> = Promise.resolve();

  constructor(columns: number, rows: number) {
    this.#terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, convertEol: true });
  }

  get columns(): number {
    return this.#terminal.cols;
  }

  write(text: string): void {
    this.writes.push(text);
    this.#written = new Promise((resolve) => this.#terminal.write(text, resolve));
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows);
  }

  /** The lines of the scrollback and the screen, without blanks at their ends and without the blank lines at the end. */
  async lines(): Promise<readonly string[]> {
    await this.#written;
    const { active } = this.#terminal.buffer;
    const lines = Array.from({ length: active.length }, (_, row) => active.getLine(row)?.translateToString(true).trimEnd() ?? "");
    return lines.slice(0, lines.findLastIndex((line) => line !== "") + 1);
  }

  /** The cell of the cursor, counted from the first line of the scrollback. */
  async cursor(): Promise<{ readonly row: number; readonly column: number }> {
    await this.#written;
    const { active } = this.#terminal.buffer;
    return { row: active.baseY + active.cursorY, column: active.cursorX };
  }
}
