import type { Line } from "../terminal/line.js";

/** What an update comes to: the next model, and what is to be done in the world. */
export interface Step<Model, Effect> {
  readonly model: Model;
  readonly effects: readonly Effect[];
}

/** What an effect can reach of the screen that asked for it. */
export interface ScreenHost<Event> {
  /** Hands the screen what an effect found out. Has no effect once the screen is closed. */
  readonly dispatch: (event: Event) => void;
  /** Prints lines above the screen, where they stay (inline screens only). */
  readonly print: (lines: readonly Line[]) => void;
  /** Puts a text on the clipboard of the person's terminal, also of one far away (OSC 52; terminals may refuse). */
  readonly copy: (text: string) => void;
}

/**
 * A terminal program: three pure functions, and one that does things. `update` gives the next model for what happened;
 * `view` draws a model; `perform` carries out what an update asked for and tells the screen what came of it.
 */
export interface Screen<Model, Effect, Event, Result> {
  /** `full`: the whole terminal, on its alternate screen. `inline`: some lines below what was printed before. */
  readonly kind: "full" | "inline";
  readonly start: (size: Size) => Step<Model, Effect>;
  readonly update: (model: Model, event: TerminalEvent | Event) => Step<Model, Effect>;
  readonly view: (model: Model) => Frame;
  /** Must not throw; what goes wrong is news. */
  readonly perform: (effect: Effect, host: ScreenHost<Event>) => void;
  /** What the screen ended with; undefined: it goes on. */
  readonly result: (model: Model) => Result | undefined;
  /** Called once when the screen has ended, however: ends timers and work that nobody waits for any more. */
  readonly close?: (() => void) | undefined;
}

/** An update without effects. */
export function withoutEffects<Model>(model: Model): Step<Model, never> {
  return { model, effects: [] };
}

/** What a person does at a terminal. */
export type TerminalEvent = KeyEvent | PasteEvent | ResizeEvent;

/**
 * A key by its name: `up`, `down`, `left`, `right`, `home`, `end`, `pageup`, `pagedown`, `enter`, `tab`, `escape`,
 * `backspace`, `delete`, `space`; a character as it was typed (`a`, `G`, `?`, `é`, `你`); with `ctrl+`, `alt+` and, where the
 * terminal tells, `shift+` before it, in that order (`ctrl+left`, `alt+enter`, `shift+tab`). A capital letter is the
 * letter itself: `G`, not `shift+g`.
 */
export interface KeyEvent {
  readonly kind: "key";
  readonly key: string;
  /** What it types into a field; undefined: it is a command key. */
  readonly text?: string | undefined;
  /** It came in one piece with other keys: typed before anybody read it, or pasted by a terminal that does not say so. */
  readonly isBurst?: boolean | undefined;
}

/** Text that was pasted, newlines as `\n`. It is never taken for keys. */
export interface PasteEvent {
  readonly kind: "paste";
  readonly text: string;
}

/** The terminal has this size now. Sent once before the first frame too. */
export interface ResizeEvent {
  readonly kind: "resize";
  readonly size: Size;
}

/** What a screen may draw on, in characters: the terminal without its last line, which stays free. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** One line of a screen. It must fit the width already: nothing is wrapped or cut after this. */
export interface FrameLine {
  readonly line: Line;
  /** Drawn inverted over the whole width. A sign in the text must say it too, for terminals without colors. */
  readonly isSelected?: boolean | undefined;
}

/** What a screen shows. A full screen has exactly as many lines as its size has rows; a shorter one is padded below. */
export interface Frame {
  readonly lines: readonly FrameLine[];
  /** Where the cursor stands, counted from 0, for input methods too (regression R189); undefined: hidden. */
  readonly cursor?: { readonly row: number; readonly column: number } | undefined;
}

/** A line that is not selected. */
export function plainLine(...line: Line): FrameLine {
  return { line };
}
