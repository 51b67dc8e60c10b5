import { Box, Text, useCursor, useStdin, useStdout } from "ink";
import { createElement, type ReactElement, useEffect } from "react";
import { fitLine, paintLine, textOfLine } from "../terminal/line.js";
import { displayWidth } from "../terminal/width.js";
import type { Frame, FrameLine } from "./screen.js";

/** What Ink is given to draw, and whom it tells of input. */
export interface FrameViewProps {
  readonly frame: Frame;
  readonly columns: number;
  readonly color: boolean;
  readonly onInput: (sequence: string) => void;
  /** Handed the way to print above the frame. */
  readonly onPrinter: (print: (text: string) => void) => void;
}

/** A frame as Ink's elements. Everything was decided before: nothing is wrapped, measured or colored here by rules. */
export function FrameView({ frame, columns, color, onInput, onPrinter }: FrameViewProps): ReactElement {
  const { setRawMode, internal_eventEmitter: input } = useStdin();
  const { write } = useStdout();
  const { setCursorPosition } = useCursor();
  useEffect(() => {
    setRawMode(true);
    input.on("input", onInput);
    onPrinter(write);
    return () => {
      input.off("input", onInput);
      setRawMode(false);
    };
  }, [setRawMode, input, onInput, onPrinter, write]);
  setCursorPosition(frame.cursor === undefined ? undefined : { x: frame.cursor.column, y: frame.cursor.row });
  const lines = frame.lines.map((line, at) => createElement(Text, { key: at, wrap: "truncate" }, drawnLine(line, columns, color)));
  return createElement(Box, { flexDirection: "column" }, ...lines);
}

/** Screens are made for forty columns and more; on fewer, what is too long is cut here. */
const LEAST_COLUMNS = 40;

function drawnLine({ line: whole, isSelected }: FrameLine, columns: number, color: boolean): string {
  const line = columns < LEAST_COLUMNS ? fitLine(whole, columns) : whole;
  const text = paintLine(line, color);
  // An empty text has no height.
  if (isSelected !== true || !color) return text === "" ? " " : text;
  const rest = " ".repeat(Math.max(0, columns - displayWidth(textOfLine(line))));
  return `\u001b[7m${text}${rest}\u001b[27m`;
}
