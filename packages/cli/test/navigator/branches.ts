import { outline } from "../tree/outlines.js";
import { Driven, type Marked } from "./driven.js";

const REPLY = { role: "assistant" } as const;

/** Two branches below `asst`; the leaf is the end of the second one. */
export const ROWS = outline(
  ["ask", null],
  ["asst", "ask", REPLY],
  ["left", "asst"],
  ["left2", "left", REPLY],
  ["right", "asst"],
  ["tool", "right", { role: "toolResult" }],
  ["right2", "tool", REPLY],
);

/** A navigator of 80 × 23 on `ROWS`; the leaf is `right2` by default. */
export function navigator(marked: Marked = {}): Driven {
  return new Driven().loaded(ROWS, marked);
}

/** A navigator with the question about leaving open for `left2`. */
export function leaving(): Driven {
  return navigator().press("k", "k", "enter");
}
