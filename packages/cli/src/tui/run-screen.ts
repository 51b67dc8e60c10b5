import { type Instance, render } from "ink";
import { createElement } from "react";
import type { Terminal } from "../terminal/io.js";
import { type Line, lineWidth, paintLine } from "../terminal/line.js";
import { loadExactWidths } from "../terminal/width.js";
import { InputDecoder } from "./decode.js";
import { FrameView } from "./frame-view.js";
import type { Screen, ScreenHost, Size, Step, TerminalEvent } from "./screen.js";

// Of xterm: the alternate screen, and brackets around pasted text.
const ENTER_FULL = "\u001b[?1049h\u001b[2J\u001b[H";
const LEAVE_FULL = "\u001b[?1049l";
const PASTES_ON = "\u001b[?2004h";
const PASTES_OFF = "\u001b[?2004l";
const SHOW_CURSOR = "\u001b[?25h";

/** Terminals that tell no size, and smaller ones than anything can be drawn on. */
const FALLBACK: Size = { columns: 80, rows: 24 };

/** Frames a second; Ink would draw half as many. */
const MOST_FRAMES = 60;

/**
 * Runs a screen on a terminal until it has a result. The terminal is as it was before on every way out: the result, an
 * error, a signal, and while the process is suspended.
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
  #model: Model | undefined;
  #ink: Instance | undefined;
  #print: ((text: string) => void) | undefined;
  #waitingToDraw: NodeJS.Immediate | undefined;
  #isOver = false;
  readonly #decoder = new InputDecoder();
  readonly #host: ScreenHost<Event> = {
    dispatch: (event) => this.#happened(event),
    print: (lines) => this.#printed(lines),
    copy: (text) => this.#copied(text),
  };
  #drawnWidths: readonly number[] = [];
  #wasResized = false;
  readonly #unprinted: string[] = [];
  readonly #forgetEnd: () => void;

  constructor(
    private readonly terminal: Terminal,
    private readonly screen: Screen<Model, Effect, Event, Result>,
    private readonly resolve: (result: Result) => void,
    private readonly reject: (error: unknown) => void,
  ) {
    this.#forgetEnd = terminal.onEnd(() => this.#leave());
  }

  begin(): void {
    this.#enter();
    this.terminal.stdout.on("resize", this.#resized);
    this.#guarded(() => this.#take(this.screen.start(this.#size())));
    // The first frame is drawn at once: the screen was asked for.
    this.#drawNow();
  }

  #size(): Size {
    const { columns, rows } = this.terminal.stdout;
    // Ink redraws everything, scrollback included, once a frame is as high as the terminal.
    return { columns: columns || FALLBACK.columns, rows: Math.max((rows || FALLBACK.rows) - 1, 1) };
  }

  readonly #resized = () => {
    this.#wasResized = true;
    if (this.screen.kind === "full") {
      // What the terminal made of the old frame is not known; a new one is drawn on an empty screen.
      this.#unmount();
      this.terminal.stdout.write("\u001b[2J\u001b[H");
    } else this.#eraseReflowed();
    this.#happened({ kind: "resize", size: this.#size() });
  };

  /**
   * A terminal that got narrower has broken the lines of the old frame into more rows than Ink has erased: those are left
   * above it.
   */
  #eraseReflowed(): void {
    const { columns } = this.#size();
    const more = this.#drawnWidths.reduce((sum, width) => sum + Math.max(Math.ceil(width / columns) - 1, 0), 0);
    if (more === 0) return;
    this.#unmount();
    this.terminal.stdout.write(`\u001b[${more}A\r\u001b[J`);
  }

  readonly #typed = (sequence: string) => {
    for (const event of this.#decoder.decode(sequence)) {
      if (event.kind === "key" && event.key === "ctrl+z") this.#suspend();
      else this.#happened(event);
    }
  };

  #happened(event: TerminalEvent | Event): void {
    if (this.#isOver || this.#model === undefined) return;
    const model = this.#model;
    this.#guarded(() => this.#take(this.screen.update(model, event)));
  }

  #take({ model, effects }: Step<Model, Effect>): void {
    this.#model = model;
    for (const effect of effects) this.screen.perform(effect, this.#host);
    // An effect may have told something already, and ended the screen.
    if (this.#isOver) return;
    const result = this.#model === undefined ? undefined : this.screen.result(this.#model);
    if (result === undefined) this.#drawSoon();
    else {
      this.#end();
      this.resolve(result);
    }
  }

  /** Keys that come together are drawn together. */
  #drawSoon(): void {
    this.#waitingToDraw ??= setImmediate(() => this.#drawNow());
  }

  #drawNow(): void {
    if (this.#waitingToDraw !== undefined) clearImmediate(this.#waitingToDraw);
    this.#waitingToDraw = undefined;
    const model = this.#model;
    if (this.#isOver || model === undefined) return;
    this.#guarded(() => {
      const { columns, rows } = this.#size();
      const frame = this.screen.view(model);
      const fitting = { ...frame, lines: frame.lines.slice(0, rows) };
      const props = { frame: fitting, columns, color: this.terminal.color, onInput: this.#typed, onPrinter: this.#printerReady };
      this.#drawnWidths = fitting.lines.map(({ line }) => lineWidth(line));
      this.#mount(createElement(FrameView, props));
    });
  }

  #mount(element: Parameters<typeof render>[0]): void {
    const { stdin, stdout } = this.terminal;
    if (this.#ink !== undefined) this.#ink.rerender(element);
    else {
      // Before the frame: Ink switches to raw mode after it has drawn, and until then the terminal turns Enter into a line feed.
      stdin.setRawMode(true);
      this.#ink = render(element, {
        stdin,
        stdout,
        exitOnCtrlC: false,
        patchConsole: false,
        maxFps: MOST_FRAMES,
      });
    }
  }

  #unmount(): void {
    if (this.screen.kind === "inline") this.#ink?.clear();
    this.#ink?.unmount();
    this.#ink = undefined;
    this.#print = undefined;
  }

  readonly #printerReady = (print: (text: string) => void) => {
    this.#print = print;
    for (const text of this.#unprinted.splice(0)) print(text);
  };

  #printed(lines: readonly Line[]): void {
    if (this.#isOver || lines.length === 0) return;
    const text = lines.map((line) => `${paintLine(line, this.terminal.color)}\n`).join("");
    if (this.#print === undefined) this.#unprinted.push(text);
    else this.#print(text);
  }

  #copied(text: string): void {
    if (!this.#isOver) this.terminal.stdout.write(`\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`);
  }

  #suspend(): void {
    this.#leave();
    this.terminal.suspend(() => {
      if (this.#isOver) return;
      this.#enter();
      this.#happened({ kind: "resize", size: this.#size() });
    });
  }

  #enter(): void {
    this.terminal.stdout.write(`${this.screen.kind === "full" ? ENTER_FULL : ""}${PASTES_ON}`);
  }

  /** The terminal as it was found. Twice does no harm. */
  #leave(): void {
    this.#unmount();
    this.terminal.stdin.setRawMode(false);
    this.terminal.stdout.write(`${PASTES_OFF}${this.screen.kind === "full" ? LEAVE_FULL : ""}${SHOW_CURSOR}`);
  }

  #end(): void {
    this.#isOver = true;
    if (this.#waitingToDraw !== undefined) clearImmediate(this.#waitingToDraw);
    this.terminal.stdout.off("resize", this.#resized);
    this.#leave();
    // What stood below was of another size, and terminals bring it back as it was.
    if (this.screen.kind === "full" && this.#wasResized) this.terminal.stdout.write("\u001b[2J\u001b[H");
    this.#forgetEnd();
    this.screen.close?.();
  }

  /** An error of the screen's own code: the terminal first, then whoever asked for the screen. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!this.#isOver) this.#end();
      this.reject(error);
    }
  }
}
