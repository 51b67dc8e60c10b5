import { type Line, lineWidth, textOfLine } from "../../src/terminal/line.js";
import type { KeyEvent, Performer, Screen, Size, TerminalEvent } from "../../src/tui/screen.js";

/** A screen driven by events, without a terminal; its effects are carried out when `until` waits for what comes of them. */
export class DrivenScreen<Model, Effect, Event, Result> {
  model: Model;
  /** What was printed above the screen, and copied. */
  readonly printed: string[] = [];
  readonly copied: string[] = [];
  readonly #effects: Effect[] = [];
  #waiting: (() => void)[] = [];

  readonly #screen: Screen<Model, Effect, Event, Result>;
  readonly #performer: Performer<Effect>;

  constructor(screen: Screen<Model, Effect, Event, Result>, size: Size) {
    this.#screen = screen;
    this.#performer = screen.performer({
      dispatch: (event) => this.#onEvent(event),
      print: (lines) => this.printed.push(...lines.map(textOfLine)),
      copy: (text) => this.copied.push(text),
    });
    const { model, effects } = screen.start(size);
    this.model = model;
    this.#effects.push(...effects);
  }

  event(event: TerminalEvent | Event): this {
    const { model, effects } = this.#screen.update(this.model, event);
    this.model = model;
    for (const effect of effects) this.#effects.push(effect);
    return this;
  }

  /** Presses keys: names of keys, or characters that also type. */
  press(...keys: readonly string[]): this {
    for (const key of keys) this.event(keyEvent(key));
    return this;
  }

  type(text: string): this {
    return this.press(...text);
  }

  /** The effects since this was asked last. */
  wanted(): readonly Effect[] {
    return this.#effects.splice(0);
  }

  /** Carries effects out until the model is as wanted. */
  async until(holds: (model: Model) => boolean): Promise<this> {
    for (;;) {
      for (const effect of this.wanted()) this.#performer.perform(effect);
      if (holds(this.model)) return this;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  get result(): Result | undefined {
    return this.#screen.result(this.model);
  }

  /** The lines of the screen as they are. */
  get frame(): readonly Line[] {
    return this.#screen.view(this.model).lines.map(({ line }) => line);
  }

  get cursor() {
    return this.#screen.view(this.model).cursor;
  }

  /** What is on the screen, blanks at the ends of lines left out. */
  get text(): string {
    return this.frame.map((line) => textOfLine(line).trimEnd()).join("\n");
  }

  /** Columns of the widest line. */
  get width(): number {
    return Math.max(...this.frame.map(lineWidth));
  }

  close(): void {
    this.#performer.end();
  }

  #onEvent(event: Event): void {
    this.event(event);
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

function keyEvent(key: string): KeyEvent {
  if (key === "space" || key === " ") return { kind: "key", key: "space", text: " " };
  return [...key].length === 1 ? { kind: "key", key, text: key } : { kind: "key", key };
}
