import { Box, Text, useCursor, useStdin } from "ink";
import { createElement, type ReactElement, useEffect } from "react";
import { fitLine, paintLine, textOfLine } from "../terminal/line.js";
import { displayWidth } from "../terminal/width.js";
import type { Frame, FrameLine } from "./screen.js";

interface InputProps {
  readonly onInput: (sequence: string) => void;
}

interface FrameViewProps extends InputProps {
  readonly frame: Frame;
  readonly columns: number;
  readonly color: boolean;
}

/** A frame as Ink elements. Lines arrive wrapped, cut and styled. */
export function FrameView({ frame, columns, color, onInput }: FrameViewProps): ReactElement {
  const { setCursorPosition } = useCursor();
  useInput(onInput);
  setCursorPosition(frame.cursor === undefined ? undefined : { x: frame.cursor.column, y: frame.cursor.row });
  const lines = frame.lines.map((line, at) => createElement(Text, { key: at, wrap: "truncate" }, frameLineText(line, columns, color)));
  return createElement(Box, { flexDirection: "column" }, ...lines);
}

/** Draws nothing and reads keys. */
export function InputView({ onInput }: InputProps): ReactElement | null {
  useInput(onInput);
  return null;
}

function useInput(onInput: InputProps["onInput"]): void {
  const { setRawMode, internal_eventEmitter: input } = useStdin();
  useEffect(() => {
    setRawMode(true);
    input.on("input", onInput);
    return () => {
      input.off("input", onInput);
      setRawMode(false);
    };
  }, [setRawMode, input, onInput]);
}

/** Screens support forty columns and more; on fewer columns lines are cut here. */
const MIN_COLUMNS = 40;

function frameLineText({ line: whole, isSelected }: FrameLine, columns: number, color: boolean): string {
  const line = columns < MIN_COLUMNS ? fitLine(whole, columns) : whole;
  const text = paintLine(line, color);
  // Ink gives an empty text no height.
  if (isSelected !== true || !color) return text === "" ? " " : text;
  const rest = " ".repeat(Math.max(0, columns - displayWidth(textOfLine(line))));
  return `\u001b[7m${text}${rest}\u001b[27m`;
}
