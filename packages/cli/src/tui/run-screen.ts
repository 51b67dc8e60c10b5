import { type Instance, render } from "ink";
import { createElement } from "react";
import { releaseInput } from "../terminal/early-input.js";
import type { Terminal } from "../terminal/io.js";
import { fitLine, type Line } from "../terminal/line.js";
import { loadExactWidths } from "../terminal/width.js";
import { Clicks, InputDecoder } from "./decode.js";
import { FrameView, InputView } from "./frame-view.js";
import { InlineFrame } from "./inline-frame.js";
import type { Screen, ScreenHost, Size, Step, TerminalEvent } from "./screen.js";

// Of xterm: the alternate screen, and bracketed paste.
const ENTER_FULL = "\u001b[?1049h\u001b[2J\u001b[H";
const LEAVE_FULL = "\u001b[?1049l";
const PASTES_ON = "\u001b[?2004h";
const PASTES_OFF = "\u001b[?2004l";
// Of xterm: presses and the wheel, in the form without a limit of 223 columns.
const MOUSE_ON = "\u001b[?1000h\u001b[?1006h";
const MOUSE_OFF = "\u001b[?1006l\u001b[?1000l";
const SHOW_CURSOR = "\u001b[?25h";
const CLEAR = "\u001b[2J\u001b[H";

/** For terminals that report no size. */
const FALLBACK: Size = { columns: 80, rows: 24 };

/** Frames per second; Ink's default is 30. */
const MAX_FPS = 60;
const FRAME_MS = 1000 / MAX_FPS;

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
  /** Cancels the draw that is scheduled; undefined: none is. */
  #cancelDraw: (() => void) | undefined;
  #drawnAtMs = 0;
  #isOver = false;
  #wasResized = false;
  /** Draws an inline screen; Ink draws a full one. */
  readonly #inline: InlineFrame;
  readonly #decoder = new InputDecoder();
  readonly #clicks = new Clicks();
  readonly #host: ScreenHost<Event> = {
    dispatch: (event) => this.#dispatch(event),
    print: (lines) => this.#print(lines),
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
    this.#inline = new InlineFrame(terminal.stdout, terminal.color, terminal.reflow);
    this.#removeEndListener = terminal.onEnd(() => this.#leave());
  }

  begin(): void {
    // What was typed while the program was loading is on the screen and comes to the prompt.
    if (releaseInput() !== "") this.#terminal.stdout.write("\r\u001b[J");
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
    } else this.#inline.clear();
    this.#dispatch({ kind: "resize", size: this.#size() });
  };

  readonly #onInput = (sequence: string) => {
    for (const event of this.#decoder.decode(sequence)) {
      if (event.kind === "key" && event.key === "ctrl+z") this.#suspend();
      else this.#dispatch(event.kind === "mouse" ? this.#clicks.count(event, performance.now()) : event);
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
    if (this.#isOver || model === undefined) return;
    this.#rejectOnError(() => {
      const { columns, rows } = this.#size();
      const whole = this.#screen.view(model);
      const frame = { ...whole, lines: whole.lines.slice(0, rows) };
      const onInput = this.#onInput;
      if (this.#screen.kind === "full")
        return this.#mount(createElement(FrameView, { frame, columns, color: this.#terminal.color, onInput }));
      this.#mount(createElement(InputView, { onInput }));
      this.#inline.draw({ ...frame, lines: frame.lines.map(({ line }) => ({ line: fitLine(line, columns) })) });
      this.#drawnAtMs = performance.now();
    });
  }

  #mount(element: Parameters<typeof render>[0]): void {
    const { stdin, stdout } = this.#terminal;
    if (this.#ink !== undefined) {
      if (this.#screen.kind === "full") this.#ink.rerender(element);
      return;
    }
    this.#ink = render(element, {
      stdin,
      stdout: this.#screen.kind === "full" ? stdout : withoutWrites(stdout),
      exitOnCtrlC: false,
      patchConsole: false,
      maxFps: MAX_FPS,
    });
  }

  #unmount(): void {
    this.#inline.clear();
    this.#ink?.unmount();
    this.#ink = undefined;
  }

  #print(lines: readonly Line[]): void {
    if (!this.#isOver && lines.length > 0) this.#inline.print(lines);
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

  get #hasMouse(): boolean {
    return this.#screen.kind === "full" && this.#screen.hasMouse === true;
  }

  #enter(): void {
    // Ink sets raw mode only after it has drawn; until then the terminal would print what is typed, and turn Enter into a line feed.
    this.#terminal.stdin.setRawMode(true);
    this.#terminal.stdout.write(`${this.#screen.kind === "full" ? ENTER_FULL : ""}${PASTES_ON}${this.#hasMouse ? MOUSE_ON : ""}`);
  }

  /** Restores the terminal. Idempotent. */
  #leave(): void {
    this.#unmount();
    this.#terminal.stdin.setRawMode(false);
    this.#terminal.stdout.write(
      `${this.#hasMouse ? MOUSE_OFF : ""}${PASTES_OFF}${this.#screen.kind === "full" ? LEAVE_FULL : ""}${SHOW_CURSOR}`,
    );
  }

  #end(): void {
    this.#isOver = true;
    this.#cancelDraw?.();
    this.#terminal.stdout.off("resize", this.#onResize);
    this.#leave();
    // Terminals restore the main screen as it was before, which has the old size. Its lines move to the scrollback.
    if (this.#screen.kind === "full" && this.#wasResized) this.#terminal.stdout.write(scrollAway(this.#terminal.stdout.rows));
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

/** Moves the lines of the screen into the scrollback, and the cursor to the top. Erasing would lose them. */
function scrollAway(rows = FALLBACK.rows): string {
  return `\u001b[${rows};1H${"\n".repeat(rows)}\u001b[H`;
}

/** A stream that passes everything but writes to another one: Ink reads keys for an inline screen, and draws nothing. */
function withoutWrites(stdout: NodeJS.WriteStream): NodeJS.WriteStream {
  return new Proxy(stdout, {
    get: (target, name) => {
      if (name === "write") return () => true;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
