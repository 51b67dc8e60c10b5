import { releaseInput } from "../terminal/early-input.js";
import type { Terminal } from "../terminal/io.js";
import type { Line } from "../terminal/line.js";
import { loadExactWidths } from "../terminal/width.js";
import { Clicks, decodeSequence } from "./decode.js";
import { FrameDrawer } from "./frame-drawer.js";
import { TerminalInput } from "./input.js";
import type { Performer, Screen, Size, Step, TerminalEvent } from "./screen.js";

// Of xterm: the alternate screen, and bracketed paste.
const ENTER_FULL = "\u001b[?1049h";
// Erased first: after a change of its size tmux moves rows of the alternate screen to the main one.
const LEAVE_FULL = "\u001b[H\u001b[J\u001b[?1049l";
const PASTES_ON = "\u001b[?2004h";
const PASTES_OFF = "\u001b[?2004l";
// Of xterm: presses and the wheel, in the form without a limit of 223 columns.
const MOUSE_ON = "\u001b[?1000h\u001b[?1006h";
const MOUSE_OFF = "\u001b[?1006l\u001b[?1000l";
const SHOW_CURSOR = "\u001b[?25h";

/** The size that is assumed if the terminal reports none. */
const FALLBACK: Size = { columns: 80, rows: 24 };

/** An inline screen is drawn sixty times a second at most. */
const FRAME_MS = 1000 / 60;

/**
 * An inline screen is drawn in a new size when it has not changed for this time. Output for one size that reaches the terminal when it has the
 * next one already is counted in rows that it does not take, and erasing too many rows takes printed lines. A window that is dragged
 * changes its size sixty times a second.
 */
const SETTLED_MS = 50;

/**
 * Runs a screen on a terminal until it has a result. The terminal is restored after the result, an error or a signal, and while
 * the process is suspended.
 *
 * @throws what `update` or `view` throws.
 */
export async function runScreen<Model, Effect, Event, Result>(
  terminal: Terminal,
  screen: Screen<Model, Effect, Event, Result>,
): Promise<Result> {
  await loadExactWidths();
  return new Promise((resolve, reject) => {
    new ScreenRun(terminal, screen, resolve, reject).begin();
  });
}

class ScreenRun<Model, Effect, Event, Result> {
  readonly #terminal: Terminal;
  readonly #screen: Screen<Model, Effect, Event, Result>;
  readonly #resolve: (result: Result) => void;
  readonly #reject: (error: unknown) => void;
  #model: Model | undefined;
  /** Cancels the draw that is scheduled; undefined: none is. */
  #cancelDraw: (() => void) | undefined;
  #drawnAtMs = 0;
  #isOver = false;
  /** The process is suspended, and the terminal is another program's. */
  #isAway = false;
  /** Draws in the new size; undefined: the size has not changed since the last draw. */
  #resizing: NodeJS.Timeout | undefined;
  readonly #input: TerminalInput;
  readonly #drawer: FrameDrawer;
  readonly #clicks = new Clicks();
  readonly #performer: Performer<Effect>;
  readonly #removeEndListener: () => void;

  constructor(
    terminal: Terminal,
    screen: Screen<Model, Effect, Event, Result>,
    resolve: (result: Result) => void,
    reject: (error: unknown) => void,
  ) {
    this.#terminal = terminal;
    this.#screen = screen;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#input = new TerminalInput(terminal.stdin, (sequence) => this.#onSequence(sequence));
    this.#drawer = new FrameDrawer(terminal.stdout, { kind: screen.kind, color: terminal.color, reflow: terminal.reflow });
    this.#removeEndListener = terminal.onEnd(() => this.#leave());
    this.#performer = screen.performer({
      dispatch: (event) => this.#dispatch(event),
      print: (lines) => this.#print(lines),
      copy: (text) => this.#copy(text),
    });
  }

  begin(): void {
    // The terminal has printed the keys that were typed while the program was loading. The prompt draws them again, so they are erased.
    if (releaseInput() !== "") this.#terminal.stdout.write("\r\u001b[J");
    this.#enter();
    this.#terminal.stdout.on("resize", this.#onResize);
    // Drawn in the next turn of the event loop: what the screen reads until then is in its first frame.
    this.#rejectOnError(() => this.#take(this.#screen.start(this.#size())));
  }

  #size(): Size {
    const { columns, rows } = this.#terminal.stdout;
    return { columns: columns || FALLBACK.columns, rows: Math.max((rows || FALLBACK.rows) - 1, 1) };
  }

  readonly #onResize = () => {
    if (this.#screen.kind === "full") return this.#drawResized();
    clearTimeout(this.#resizing);
    this.#resizing = setTimeout(() => this.#drawResized(), SETTLED_MS);
  };

  #drawResized(): void {
    clearTimeout(this.#resizing);
    this.#resizing = undefined;
    // The terminal may have reflowed the lines of a full screen in any way, so all are drawn again.
    this.#drawer.clear();
    this.#dispatch({ kind: "resize", size: this.#size() });
  }

  #onSequence(sequence: string): void {
    for (const event of decodeSequence(sequence)) {
      if (event.kind === "key" && event.key === "ctrl+z") this.#suspend();
      else this.#dispatch(event.kind === "mouse" ? this.#clicks.count(event, performance.now()) : event);
    }
  }

  #dispatch(event: TerminalEvent | Event): void {
    if (this.#isOver || this.#model === undefined) return;
    const model = this.#model;
    this.#rejectOnError(() => this.#take(this.#screen.update(model, event)));
  }

  #take({ model, effects }: Step<Model, Effect>): void {
    this.#model = model;
    for (const effect of effects) this.#performer.perform(effect);
    // An effect may have dispatched an event that ended the screen.
    if (this.#isOver) return;
    const result = this.#model === undefined ? undefined : this.#screen.result(this.#model);
    if (result === undefined) this.#drawSoon();
    else {
      this.#end();
      this.#resolve(result);
    }
  }

  /** Several keys in one chunk of input are drawn once, and a fast reply no more often than a screen shows. */
  #drawSoon(): void {
    if (this.#cancelDraw !== undefined) return;
    const draw = () => this.#drawNow();
    const waitMs = this.#screen.kind === "inline" ? this.#drawnAtMs + FRAME_MS - performance.now() : 0;
    if (waitMs > 0) {
      const timer = setTimeout(draw, waitMs);
      this.#cancelDraw = () => clearTimeout(timer);
    } else {
      const immediate = setImmediate(draw);
      this.#cancelDraw = () => clearImmediate(immediate);
    }
  }

  #drawNow(): void {
    this.#cancelDraw?.();
    this.#cancelDraw = undefined;
    const model = this.#model;
    if (this.#isOver || this.#isAway || this.#resizing !== undefined || model === undefined) return;
    this.#rejectOnError(() => {
      const frame = this.#screen.view(model);
      this.#drawer.draw({ ...frame, lines: frame.lines.slice(0, this.#size().rows) });
      this.#drawnAtMs = performance.now();
    });
  }

  #print(lines: readonly Line[]): void {
    if (this.#isOver || lines.length === 0) return;
    // Printing draws the frame again, which has another width than the terminal.
    if (this.#resizing !== undefined) this.#drawResized();
    this.#drawer.print(lines);
  }

  #copy(text: string): void {
    if (!this.#isOver) this.#terminal.stdout.write(`\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`);
  }

  #suspend(): void {
    this.#leave();
    this.#isAway = true;
    this.#terminal.suspend(() => {
      this.#isAway = false;
      if (this.#isOver) return;
      this.#enter();
      this.#dispatch({ kind: "resize", size: this.#size() });
    });
  }

  get #hasMouse(): boolean {
    return this.#screen.kind === "full" && this.#screen.hasMouse === true;
  }

  #enter(): void {
    // Before anything is drawn: until then the terminal prints what is typed, and turns Enter into a line feed.
    this.#input.start();
    this.#terminal.stdout.write(`${this.#screen.kind === "full" ? ENTER_FULL : ""}${PASTES_ON}${this.#hasMouse ? MOUSE_ON : ""}`);
  }

  /** Restores the terminal. Idempotent. */
  #leave(): void {
    this.#drawer.clear();
    this.#input.stop();
    this.#terminal.stdout.write(
      `${this.#hasMouse ? MOUSE_OFF : ""}${PASTES_OFF}${this.#screen.kind === "full" ? LEAVE_FULL : ""}${SHOW_CURSOR}`,
    );
  }

  #end(): void {
    this.#isOver = true;
    this.#cancelDraw?.();
    clearTimeout(this.#resizing);
    this.#terminal.stdout.off("resize", this.#onResize);
    this.#leave();
    this.#removeEndListener();
    this.#performer.end();
  }

  /** Restores the terminal before an error of the screen's code rejects `runScreen`. */
  #rejectOnError(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!this.#isOver) this.#end();
      this.#reject(error);
    }
  }
}
