import { execFile, execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Between two looks at a screen, in milliseconds, and how long one is waited for. */
const LOOK = 40;
const LONGEST = 20_000;

/** How a program is started in a terminal. */
export interface TerminalOptions {
  readonly columns: number;
  readonly rows: number;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * A program in a real terminal: tmux, with a server of its own. Keys go in by name as tmux has them (`Enter`, `C-Left`,
 * `M-x`), and the screen is read as text. Nothing here sleeps for a time: it is looked until the screen says so.
 */
export class TerminalProgram {
  private constructor(private readonly socket: string) {}

  /** Starts a shell in the terminal, for it to start programs in. */
  static start({ columns, rows, cwd, env }: TerminalOptions): TerminalProgram {
    const socket = `bough-${randomUUID()}`;
    const setting = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const size = ["-x", String(columns), "-y", String(rows)];
    const shell = ["env", "-u", "CI", "-u", "NO_COLOR", "PS1=$ ", ...setting, "sh"];
    // Without tmux they fail with that: a test that is skipped says nothing.
    execFileSync("tmux", ["-L", socket, "-f", "/dev/null", "new-session", "-d", ...size, "-c", cwd, ...shell], {
      env: { PATH: process.env["PATH"] ?? "", HOME: cwd, TERM: "xterm-256color", LANG: "C.UTF-8" },
    });
    return new TerminalProgram(socket);
  }

  /** Presses keys, by their names. */
  async press(...keys: readonly string[]): Promise<void> {
    await this.#tmux("send-keys", "-t", "0", ...keys);
  }

  /** Types a text as it stands. */
  async type(text: string): Promise<void> {
    await this.#tmux("send-keys", "-t", "0", "-l", text);
  }

  /** Pastes a text as terminals do, in brackets where the program asked for them. */
  async paste(text: string): Promise<void> {
    await this.#tmux("set-buffer", text);
    await this.#tmux("paste-buffer", "-p", "-t", "0");
  }

  async resize(columns: number, rows: number): Promise<void> {
    await this.#tmux("resize-window", "-t", "0", "-x", String(columns), "-y", String(rows));
  }

  /** The lines of the screen, without the spaces at their ends. */
  async screen(): Promise<readonly string[]> {
    return (await this.#tmux("capture-pane", "-t", "0", "-p")).split("\n").map((line) => line.trimEnd());
  }

  /** The screen with the orders that colour it. */
  async painted(): Promise<string> {
    return this.#tmux("capture-pane", "-t", "0", "-p", "-e");
  }

  /** The screen once it fits; throws with the last one where it does not in time. */
  async until(fits: RegExp | ((screen: string) => boolean)): Promise<string> {
    const matches = typeof fits === "function" ? fits : (screen: string) => fits.test(screen);
    const end = Date.now() + LONGEST;
    for (;;) {
      const screen = (await this.screen()).join("\n");
      if (matches(screen)) return screen;
      if (Date.now() > end) throw new Error(`The screen never fitted ${String(fits)}:\n${screen}`);
      await new Promise((resolve) => setTimeout(resolve, LOOK));
    }
  }

  /** A setting of the terminal that programs switch, such as `alternate_on`. */
  async flag(name: string): Promise<string> {
    return (await this.#tmux("display-message", "-p", "-t", "0", `#{${name}}`)).trim();
  }

  /** Ends the terminal and everything in it. */
  async end(): Promise<void> {
    await this.#tmux("kill-server").catch(() => undefined);
  }

  async #tmux(...args: readonly string[]): Promise<string> {
    const { stdout } = await run("tmux", ["-L", this.socket, ...args]);
    return stdout;
  }
}
