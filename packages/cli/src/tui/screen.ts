import type { Line } from "../terminal/line.js";

/**
 * A terminal program. `update` and `view` are pure: `update` returns the next model and the effects of an event, `view` draws a
 * model. Its performer carries out the effects of one run.
 */
export interface Screen<Model, Effect, Event, Result> {
  /** `full`: the whole terminal, on its alternate screen. `inline`: some lines below the output so far. */
  readonly kind: "full" | "inline";
  readonly start: (size: Size) => Step<Model, Effect>;
  readonly update: (model: Model, event: TerminalEvent | Event) => Step<Model, Effect>;
  readonly view: (model: Model) => Frame;
  /** Called once, when the screen opens. */
  readonly performer: (host: ScreenHost<Event>) => Performer<Effect>;
  /** The result that ends the screen; undefined: it continues. */
  readonly result: (model: Model) => Result | undefined;
  /** True if a full screen gets mouse events. The terminal then selects text only with Shift. */
  readonly hasMouse?: boolean | undefined;
}

/** Carries out effects, and dispatches events with their outcome. */
export interface Performer<Effect> {
  /** Must not throw; a failure is dispatched as an event. */
  perform(effect: Effect): void;
  /** Called once at the end of the screen, also after an error: stops timers and cancels work. */
  end(): void;
}

/** The outcome of an update: the next model, and effects to perform in order. */
export interface Step<Model, Effect> {
  readonly model: Model;
  readonly effects: readonly Effect[];
}

/** A step without effects. */
export function withoutEffects<Model>(model: Model): Step<Model, never> {
  return { model, effects: [] };
}

/** A step and the next one from its model, with the effects of both. */
export function andThen<Model, Effect>(
  { model, effects }: Step<Model, Effect>,
  next: (model: Model) => Step<Model, Effect>,
): Step<Model, Effect> {
  const step = next(model);
  return { model: step.model, effects: [...effects, ...step.effects] };
}

/** The operations of a running screen that effects can use. */
export interface ScreenHost<Event> {
  /** Updates the screen with an event. Ignored once the screen is closed. */
  readonly dispatch: (event: Event) => void;
  /** Prints lines above the screen, where they stay (inline screens only). */
  readonly print: (lines: readonly Line[]) => void;
  /** Copies a text to the clipboard of the user's terminal (OSC 52), also over SSH. Terminals may refuse. */
  readonly copy: (text: string) => void;
}

/** Input from the terminal. */
export type TerminalEvent = KeyEvent | PasteEvent | MouseEvent | ResizeEvent;

/**
 * A key by its name: `up`, `down`, `left`, `right`, `home`, `end`, `pageup`, `pagedown`, `enter`, `tab`, `escape`, `backspace`,
 * `delete`, `space`; a character as it was typed (`a`, `G`, `?`, `é`, `你`); with `ctrl+`, `alt+` and, if the terminal sends it,
 * `shift+` before it, in that order (`ctrl+left`, `alt+enter`, `shift+tab`). A capital letter is the letter itself: `G`, not
 * `shift+g`.
 */
export interface KeyEvent {
  readonly kind: "key";
  readonly key: string;
  /** The text that the key types into a field; undefined: it types none. */
  readonly text?: string | undefined;
  /** It arrived in one chunk with other keys: type-ahead, or a paste by a terminal without bracketed paste. */
  readonly isBurst?: boolean | undefined;
}

/** Pasted text, newlines as `\n`. It is never interpreted as keys. */
export interface PasteEvent {
  readonly kind: "paste";
  readonly text: string;
}

/** A press of the left button, or one step of the wheel. Only screens with `hasMouse` get it. */
export interface MouseEvent {
  readonly kind: "mouse";
  readonly action: "press" | "wheelUp" | "wheelDown";
  /** The cell under the pointer, counted from 0. */
  readonly column: number;
  readonly row: number;
  /** The second press on one cell within 0.4 s. */
  readonly isDouble?: boolean | undefined;
}

/** The terminal has a new size. */
interface ResizeEvent {
  readonly kind: "resize";
  readonly size: Size;
}

/** The area for a screen, in characters: the terminal without its last line, which stays empty. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** The content of a screen. A full screen has as many lines as its size has rows. */
export interface Frame {
  readonly lines: readonly FrameLine[];
  /** The position of the cursor, counted from 0. Input methods draw there too. undefined: the cursor is hidden. */
  readonly cursor?: { readonly row: number; readonly column: number } | undefined;
}

/** One line of a screen. It must fit the width: it is neither wrapped nor cut. */
export interface FrameLine {
  readonly line: Line;
  /** Drawn inverted over the whole width. The text must mark the selection too, for terminals without colors. */
  readonly isSelected?: boolean | undefined;
}

/** The first `rows` lines, and empty ones up to that number. */
export function padFrame(lines: readonly FrameLine[], rows: number): readonly FrameLine[] {
  return Array.from({ length: rows }, (_, at) => lines[at] ?? plainLine());
}

/** A line that is not selected. */
export function plainLine(...line: Line): FrameLine {
  return { line };
}
