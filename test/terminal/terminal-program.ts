import { type IPty, spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";

/** Options with which a program is started in a terminal. */
export interface TerminalOptions {
  readonly columns: number;
  readonly rows: number;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The modes that the program switched on or off in its terminal. */
export interface TerminalModes {
  /** True while the program draws on the alternate screen. */
  readonly alternateScreen: boolean;
  readonly cursorVisible: boolean;
  /** True while the program gets mouse events. */
  readonly mouse: boolean;
}

/** The sequences that keys send; letters and `C-x` are derived from their names. */
const KEYS: Readonly<Record<string, string>> = {
  Enter: "\r",
  Escape: "\u001b",
  Tab: "\t",
  Space: " ",
  Up: "\u001b[A",
  Down: "\u001b[B",
};

/** Variables that change the output of programs; they are set regardless of the developer's environment. */
const UNSET = [
  ...["CI", "NO_COLOR", "FORCE_COLOR", "BOUGH_ASCII", "BOUGH_MODEL", "BOUGH_BASE_URL", "BOUGH_API_KEY"],
  // Where there is a desktop or tmux, a copy does not go to the terminal.
  ...["DISPLAY", "WAYLAND_DISPLAY", "TMUX", "SSH_CONNECTION", "SSH_TTY", "WSL_DISTRO_NAME", "TERM_PROGRAM"],
];

/** The wait for a screen ends before the test's own time limit (vitest.config.ts), so that the failure shows the screen. */
const LONGEST_WAIT_MS = 200_000;

/**
 * A shell in a pseudo-terminal (node-pty) whose output an xterm emulator draws. Keys go in by name (`Enter`, `C-c`), and the
 * screen is read as text. `until` looks again whenever the program has printed something; nothing here waits for a time.
 */
export class TerminalProgram {
  readonly #pty: IPty;
  readonly #terminal: xterm.Terminal;
  readonly #drawn = new Set<() => void>();
  #cursorVisible = true;
  #erasures = 0;

  private constructor({ columns, rows, cwd, env }: TerminalOptions) {
    this.#terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
    this.#pty = spawn("sh", [], { name: env["TERM"] ?? "xterm-256color", cols: columns, rows, cwd, env: environment(cwd, env) });
    this.#pty.onData((data) => this.#terminal.write(data, () => this.#wake()));
    // The emulator's answers to queries of the program, such as the position of the cursor.
    this.#terminal.onData((answer) => this.#pty.write(answer));
    this.#terminal.parser.registerCsiHandler({ final: "J" }, () => {
      this.#erasures += 1;
      return false;
    });
    for (const [final, visible] of [
      ["h", true],
      ["l", false],
    ] as const) {
      this.#terminal.parser.registerCsiHandler({ prefix: "?", final }, (parameters) => {
        if (parameters.includes(25)) this.#cursorVisible = visible;
        return false;
      });
    }
  }

  /** Starts a shell in the terminal, for it to start programs in. */
  static start(options: TerminalOptions): TerminalProgram {
    return new TerminalProgram(options);
  }

  /** Presses keys, by their names. */
  press(...keys: readonly string[]): void {
    for (const key of keys) this.#pty.write(sequenceOf(key));
  }

  /** Turns the wheel or presses the left button, as terminals report it in SGR mode; cells are counted from 0. */
  pointAt(column: number, row: number, button: "left" | "wheelUp" | "wheelDown" = "left"): void {
    const number = { left: 0, wheelUp: 64, wheelDown: 65 }[button];
    this.#pty.write(`\u001b[<${number};${column + 1};${row + 1}M`);
  }

  /** Types a text unchanged. */
  type(text: string): void {
    this.#pty.write(text);
  }

  /** Pastes a text as terminals do: line breaks as carriage returns, in brackets where the program asked for them. */
  paste(text: string): void {
    const sent = text.replaceAll("\n", "\r");
    this.#pty.write(this.#terminal.modes.bracketedPasteMode ? `\u001b[200~${sent}\u001b[201~` : sent);
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows);
    this.#pty.resize(columns, rows);
  }

  /** The lines of the screen, without the spaces at their ends. */
  screen(): readonly string[] {
    const { active } = this.#terminal.buffer;
    return Array.from({ length: this.#terminal.rows }, (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? "").map(
      (line) => line.trimEnd(),
    );
  }

  /** The row that the cursor is in, up to the cursor. */
  beforeCursor(): string {
    const { active } = this.#terminal.buffer;
    return active.getLine(active.baseY + active.cursorY)?.translateToString(false, 0, active.cursorX) ?? "";
  }

  /** The lines of the scrollback and the screen; a line that the terminal broke is one. */
  whole(): readonly string[] {
    const { active } = this.#terminal.buffer;
    const lines: string[] = [];
    for (let row = 0; row < active.length; row += 1) {
      const line = active.getLine(row);
      const text = line?.translateToString(true) ?? "";
      if (line?.isWrapped === true) lines.push(`${lines.pop() ?? ""}${text}`);
      else lines.push(text);
    }
    return lines.map((line) => line.trimEnd());
  }

  /** True if any character of the screen has a colour or is shown inverse. */
  isColoured(): boolean {
    const { active } = this.#terminal.buffer;
    const cell = active.getNullCell();
    return Array.from({ length: this.#terminal.rows * this.#terminal.cols }, (_, at) => at).some((at) => {
      const found = active.getLine(active.baseY + Math.floor(at / this.#terminal.cols))?.getCell(at % this.#terminal.cols, cell);
      return found !== undefined && (!found.isFgDefault() || found.isInverse() !== 0);
    });
  }

  /** The screen once it fits; throws with the last one where the program never draws it. */
  async until(fits: RegExp | ((screen: string) => boolean)): Promise<string> {
    const matches = typeof fits === "function" ? fits : (screen: string) => fits.test(screen);
    const current = () => this.screen().join("\n");
    if (matches(current())) return current();
    return new Promise((resolve, reject) => {
      const check = (): void => {
        if (!matches(current())) return;
        end();
        resolve(current());
      };
      const timer = setTimeout(() => {
        end();
        reject(new Error(`The screen never matched ${String(fits)}:\n${current()}`));
      }, LONGEST_WAIT_MS);
      const end = (): void => {
        clearTimeout(timer);
        this.#drawn.delete(check);
      };
      this.#drawn.add(check);
    });
  }

  /** The number of times that the program erased the screen below the cursor, or all of it. */
  erasures(): number {
    return this.#erasures;
  }

  modes(): TerminalModes {
    const { buffer, modes } = this.#terminal;
    return {
      alternateScreen: buffer.active.type === "alternate",
      cursorVisible: this.#cursorVisible,
      mouse: modes.mouseTrackingMode !== "none",
    };
  }

  /** Hangs up: the programs in the terminal get SIGHUP. */
  end(): void {
    this.#pty.kill();
    this.#terminal.dispose();
  }

  #wake(): void {
    for (const check of [...this.#drawn]) check();
  }
}

function sequenceOf(key: string): string {
  const control = /^C-([a-z])$/.exec(key)?.[1];
  if (control !== undefined) return String.fromCharCode(control.charCodeAt(0) - 96);
  return KEYS[key] ?? key;
}

function environment(home: string, more: Readonly<Record<string, string>>): Record<string, string> {
  const own = Object.entries(process.env).filter((pair): pair is [string, string] => pair[1] !== undefined && !UNSET.includes(pair[0]));
  return { ...Object.fromEntries(own), PS1: "$ ", HOME: home, LANG: "C.UTF-8", ...more };
}
