import { type Instance, render } from "ink";
import { createElement } from "react";
import type { Terminal } from "../terminal/io.js";
import { type Line, lineWidth, paintLine } from "../terminal/line.js";
import { loadExactWidths } from "../terminal/width.js";
import { InputDecoder } from "./decode.js";
import { FrameView } from "./frame-view.js";
import type { Screen, ScreenHost, Size, Step, TerminalEvent } from "./screen.js";

// Of xterm: the alternate screen, and bracketed paste.
const ENTER_FULL = "\u001b[?1049h\u001b[2J\u001b[H";
const LEAVE_FULL = "\u001b[?1049l";
const PASTES_ON = "\u001b[?2004h";
const PASTES_OFF = "\u001b[?2004l";
const SHOW_CURSOR = "\u001b[?25h";
const CLEAR = "\u001b[2J\u001b[H";

/** For terminals that report no size. */
const FALLBACK: Size = { columns: 80, rows: 24 };

/** Frames per second; Ink's default is 30. */
const MAX_FPS = 60;

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
  #ink: Instance | undefined;
  #print: ((text: string) => void) | undefined;
  #nextDraw: NodeJS.Immediate | undefined;
  #isOver = false;
  #wasResized = false;
  #drawnWidths: readonly number[] = [];
  readonly #unprinted: string[] = [];
  readonly #decoder = new InputDecoder();
  readonly #host: ScreenHost<Event> = {
    dispatch: (event) => this.#dispatch(event),
    print: (lines) => this.#printAbove(lines),
    copy: (text) => this.#copy(text),
  };
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
    this.#removeEndListener = terminal.onEnd(() => this.#leave());
  }

  begin(): void {
    this.#enter();
    this.#terminal.stdout.on("resize", this.#onResize);
    // Drawn in the next turn of the event loop: what the screen reads until then is in its first frame.
    this.#rejectOnError(() => this.#take(this.#screen.start(this.#size())));
  }

  #size(): Size {
    const { columns, rows } = this.#terminal.stdout;
    // Ink redraws everything, scrollback included, once a frame is as high as the terminal.
    return { columns: columns || FALLBACK.columns, rows: Math.max((rows || FALLBACK.rows) - 1, 1) };
  }

  readonly #onResize = () => {
    this.#wasResized = true;
    if (this.#screen.kind === "full") {
      // How the terminal reflowed the old frame is unknown, so the new one is drawn on an empty screen.
      this.#unmount();
      this.#terminal.stdout.write(CLEAR);
    } else this.#eraseReflowed();
    this.#dispatch({ kind: "resize", size: this.#size() });
  };

  /** A narrower terminal has broken lines of the old frame into more rows than Ink erases. This erases the additional rows. */
  #eraseReflowed(): void {
    const { columns } = this.#size();
    const more = this.#drawnWidths.reduce((sum, width) => sum + Math.max(Math.ceil(width / columns) - 1, 0), 0);
    if (more === 0) return;
    this.#unmount();
    this.#terminal.stdout.write(`\u001b[${more}A\r\u001b[J`);
  }

  readonly #onInput = (sequence: string) => {
    for (const event of this.#decoder.decode(sequence)) {
      if (event.kind === "key" && event.key === "ctrl+z") this.#suspend();
      else this.#dispatch(event);
    }
  };

  #dispatch(event: TerminalEvent | Event): void {
    if (this.#isOver || this.#model === undefined) return;
    const model = this.#model;
    this.#rejectOnError(() => this.#take(this.#screen.update(model, event)));
  }

  #take({ model, effects }: Step<Model, Effect>): void {
    this.#model = model;
    for (const effect of effects) this.#screen.perform(effect, this.#host);
    // An effect may have dispatched an event that ended the screen.
    if (this.#isOver) return;
    const result = this.#model === undefined ? undefined : this.#screen.result(this.#model);
    if (result === undefined) this.#drawSoon();
    else {
      this.#end();
      this.#resolve(result);
    }
  }

  /** Several keys in one chunk of input are drawn once. */
  #drawSoon(): void {
    this.#nextDraw ??= setImmediate(() => this.#drawNow());
  }

  #drawNow(): void {
    if (this.#nextDraw !== undefined) clearImmediate(this.#nextDraw);
    this.#nextDraw = undefined;
    const model = this.#model;
    if (this.#isOver || model === undefined) return;
    this.#rejectOnError(() => {
      const { columns, rows } = this.#size();
      const whole = this.#screen.view(model);
      const frame = { ...whole, lines: whole.lines.slice(0, rows) };
      this.#drawnWidths = frame.lines.map(({ line }) => lineWidth(line));
      const { color } = this.#terminal;
      this.#mount(createElement(FrameView, { frame, columns, color, onInput: this.#onInput, onPrinter: this.#onPrinter }));
    });
  }

  #mount(element: Parameters<typeof render>[0]): void {
    const { stdin, stdout } = this.#terminal;
    if (this.#ink !== undefined) this.#ink.rerender(element);
    else {
      // Ink sets raw mode only after it has drawn; until then the terminal would turn Enter into a line feed.
      stdin.setRawMode(true);
      this.#ink = render(element, {
        stdin,
        stdout,
        exitOnCtrlC: false,
        patchConsole: false,
        maxFps: MAX_FPS,
      });
    }
  }

  #unmount(): void {
    if (this.#screen.kind === "inline") this.#ink?.clear();
    this.#ink?.unmount();
    this.#ink = undefined;
    this.#print = undefined;
  }

  readonly #onPrinter = (print: (text: string) => void) => {
    this.#print = print;
    for (const text of this.#unprinted.splice(0)) print(text);
  };

  #printAbove(lines: readonly Line[]): void {
    if (this.#isOver || lines.length === 0) return;
    const text = lines.map((line) => `${paintLine(line, this.#terminal.color)}\n`).join("");
    if (this.#print === undefined) this.#unprinted.push(text);
    else this.#print(text);
  }

  #copy(text: string): void {
    if (!this.#isOver) this.#terminal.stdout.write(`\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`);
  }

  #suspend(): void {
    this.#leave();
    this.#terminal.suspend(() => {
      if (this.#isOver) return;
      this.#enter();
      this.#dispatch({ kind: "resize", size: this.#size() });
    });
  }

  #enter(): void {
    this.#terminal.stdout.write(`${this.#screen.kind === "full" ? ENTER_FULL : ""}${PASTES_ON}`);
  }

  /** Restores the terminal. Idempotent. */
  #leave(): void {
    this.#unmount();
    this.#terminal.stdin.setRawMode(false);
    this.#terminal.stdout.write(`${PASTES_OFF}${this.#screen.kind === "full" ? LEAVE_FULL : ""}${SHOW_CURSOR}`);
  }

  #end(): void {
    this.#isOver = true;
    if (this.#nextDraw !== undefined) clearImmediate(this.#nextDraw);
    this.#terminal.stdout.off("resize", this.#onResize);
    this.#leave();
    // Terminals restore the main screen as it was before, which has the old size.
    if (this.#screen.kind === "full" && this.#wasResized) this.#terminal.stdout.write(CLEAR);
    this.#removeEndListener();
    this.#screen.close?.();
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
