import type { Line } from "../terminal/line.js";
import type { Size, TerminalEvent } from "./event.js";
import type { Frame } from "./frame.js";

/** What an update comes to: the next model, and what is to be done in the world. */
export interface Step<Model, Effect> {
  readonly model: Model;
  readonly effects: readonly Effect[];
}

/** What an effect can reach of the screen that asked for it. */
export interface ScreenHost<News> {
  /** Hands the screen what an effect found out. Has no effect once the screen is closed. */
  readonly tell: (news: News) => void;
  /** Prints lines above the screen, where they stay (inline screens only). */
  readonly print: (lines: readonly Line[]) => void;
  /** Puts a text on the clipboard of the person's terminal, also of one far away (OSC 52; terminals may refuse). */
  readonly copy: (text: string) => void;
}

/**
 * A terminal program: three pure functions, and one that does things. `update` gives the next model for what happened;
 * `view` draws a model; `perform` carries out what an update asked for and tells the screen what came of it.
 */
export interface Screen<Model, Effect, News, Result> {
  /** `full`: the whole terminal, on its alternate screen. `inline`: some lines below what was printed before. */
  readonly kind: "full" | "inline";
  readonly start: (size: Size) => Step<Model, Effect>;
  readonly update: (model: Model, event: TerminalEvent | News) => Step<Model, Effect>;
  readonly view: (model: Model) => Frame;
  /** Must not throw; what goes wrong is news. */
  readonly perform: (effect: Effect, host: ScreenHost<News>) => void;
  /** What the screen ended with; undefined: it goes on. */
  readonly result: (model: Model) => Result | undefined;
  /** Called once when the screen has ended, however: ends timers and work that nobody waits for any more. */
  readonly close?: (() => void) | undefined;
}

/** An update without effects. */
export function still<Model>(model: Model): Step<Model, never> {
  return { model, effects: [] };
}
