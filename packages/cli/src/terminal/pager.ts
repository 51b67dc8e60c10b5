import { type ChildProcess, spawn } from "node:child_process";
import { withoutKeys } from "./child-environment.js";
import { type Io, OutputClosedError, type PagerTerminal } from "./io.js";

/**
 * The pager without a choice of the user. It exits at once if the text fits the screen (`F`), keeps colors (`R`), and leaves the text on
 * the screen (`X`).
 */
const DEFAULT_PAGER = "less -R";

/** Set for the pager where the user has not set it. */
const DEFAULTS = { LESS: "FRX", LV: "-c" };

/** A pager that took more text than this has been reading it: it is not a command that was not found. UTF-16 code units. */
const RETAINED = 1 << 19;

/** Exit codes of a shell: the command cannot be executed, or does not exist. */
const NOT_STARTED = [126, 127];

/** The codes that `paintLine` writes. */
const STYLES = /\u001b\[[\d;]*m/g;

/** A pager command. `isChosen`: the user named it, so a failure to start it is printed. */
interface PagerChoice {
  readonly command: string;
  readonly isChosen: boolean;
}

/**
 * The pager: `$BOUGH_PAGER`, else the setting of the config file, else `$PAGER`, else `less -R`. Undefined: no pager, because the
 * choice is empty or `cat`, or the setting is `false`.
 */
function choosePager(env: Io["env"], setting: string | boolean | undefined): PagerChoice | undefined {
  const configured = setting === false ? "" : setting === true ? undefined : setting;
  const chosen = env["BOUGH_PAGER"] ?? configured ?? env["PAGER"];
  const command = (chosen ?? DEFAULT_PAGER).trim();
  return command === "" || command === "cat" ? undefined : { command, isChosen: chosen !== undefined };
}

/** Reads the setting `pager` of the config file: a command, or false for none. */
export type ReadPagerSetting = () => Promise<string | boolean | undefined>;

/** The output of one command through a pager. The pager starts at the first `write`, so that an error without output starts none. */
export class Pager {
  readonly #io: Io;
  readonly #terminal: PagerTerminal;
  readonly #readSetting: ReadPagerSetting;
  #child: RunningPager | undefined;
  #isPlain = false;

  constructor(io: Io, terminal: PagerTerminal, readSetting: ReadPagerSetting) {
    this.#io = io;
    this.#terminal = terminal;
    this.#readSetting = readSetting;
  }

  /** True if a text, with the lines that the terminal wraps, is longer than the screen. The prompt of the shell needs the last row. */
  exceedsScreen(text: string): boolean {
    const columns = this.#io.stdout.columns ?? 80;
    let rows = 1;
    for (const line of text.replace(STYLES, "").split("\n")) rows += Math.max(1, Math.ceil(line.length / columns));
    return rows > this.#terminal.rows() + 1;
  }

  get isRunning(): boolean {
    return this.#child !== undefined;
  }

  /** Writes to the pager, or to stdout if there is none. @throws {OutputClosedError} the user has quit the pager. */
  async write(text: string): Promise<void> {
    if (!this.#isPlain && this.#child === undefined) await this.#start();
    if (this.#child === undefined) return this.#io.stdout.write(text);
    const outcome = await this.#child.write(text);
    if (outcome === "closed" && (await this.#endChild(this.#child))) throw new OutputClosedError();
  }

  /** Waits until the user has quit the pager. */
  async end(): Promise<void> {
    if (this.#child !== undefined) await this.#endChild(this.#child);
  }

  async #start(): Promise<void> {
    const choice = choosePager(this.#io.env, await this.#readSetting());
    const child = choice === undefined ? undefined : await RunningPager.start(choice.command, this.#io.env, this.#terminal);
    this.#child = child;
    this.#isPlain = child === undefined;
    if (choice?.isChosen === true && child === undefined) await this.#tellFailure(choice.command);
  }

  /** Returns false if the shell did not find the command: what it was given is printed without a pager then. */
  async #endChild(child: RunningPager): Promise<boolean> {
    const exit = await child.end();
    this.#child = undefined;
    if (!NOT_STARTED.includes(exit)) return true;
    this.#isPlain = true;
    await this.#tellFailure(child.command);
    if (child.retained !== undefined) await this.#io.stdout.write(child.retained);
    return false;
  }

  async #tellFailure(command: string): Promise<void> {
    await this.#io.stderr.write(`bough: The pager '${command}' cannot be started. Set BOUGH_PAGER, or use --no-pager.\n`);
  }
}

/** The process of a pager. */
class RunningPager {
  readonly command: string;
  /** All text so far; undefined once it is long. */
  retained: string | undefined = "";
  readonly #child: ChildProcess;
  readonly #exit: Promise<number>;

  private constructor(command: string, child: ChildProcess, heedInterrupts: () => void) {
    this.command = command;
    this.#child = child;
    // The failure of a write is passed to its callback.
    child.stdin?.on("error", () => undefined);
    this.#exit = new Promise((resolve) => {
      child.once("close", (code) => {
        heedInterrupts();
        resolve(code ?? 0);
      });
    });
  }

  /** Resolves to undefined if the program does not exist or cannot be executed. Ctrl+C is for the pager while it runs. */
  static async start(command: string, env: Io["env"], terminal: PagerTerminal): Promise<RunningPager | undefined> {
    const words = /^[\w\s./:@%+,-]+$/.test(command) ? command.split(/\s+/) : undefined;
    const [file = command, ...args] = words ?? [];
    const child = spawn(file, args, {
      stdio: ["pipe", "inherit", "inherit"],
      env: { ...DEFAULTS, ...withoutKeys(env) },
      shell: words === undefined,
    });
    const heedInterrupts = terminal.ignoreInterrupts();
    const isStarted = await new Promise<boolean>((resolve) => {
      child.once("spawn", () => resolve(true));
      child.once("error", () => resolve(false));
    });
    if (isStarted) return new RunningPager(command, child, heedInterrupts);
    heedInterrupts();
    return undefined;
  }

  async write(text: string): Promise<"written" | "closed"> {
    if (this.retained !== undefined) this.retained = this.retained.length > RETAINED ? undefined : this.retained + text;
    return new Promise((resolve) => {
      const { stdin } = this.#child;
      if (stdin === null || !stdin.writable) return resolve("closed");
      stdin.write(text, (error) => resolve(error ? "closed" : "written"));
    });
  }

  /** Closes its input and resolves to its exit code when it ends. */
  async end(): Promise<number> {
    this.#child.stdin?.end();
    return this.#exit;
  }
}
