import { parsed } from "./json-text.js";
import { linesOf, type SourceLine } from "./lines.js";
import { isObject, type JsonObject } from "./narrow.js";
import type { ImportProblem } from "./source-session.js";

/** A line that holds a JSON object. */
export interface JsonLine {
  readonly kind: "object";
  readonly line: SourceLine;
  readonly object: JsonObject;
}

/** A line that does not. */
export interface BadLine {
  readonly kind: "problem";
  readonly problem: ImportProblem;
}

/**
 * The lines of a JSONL file, each an object or a problem with its line number. A last line without a line break that
 * is no JSON is torn: its writer was stopped in the middle.
 */
export function* jsonLinesOf(path: string, mostLineBytes?: number): Generator<JsonLine | BadLine, void, void> {
  for (const line of linesOf(path, mostLineBytes)) {
    if (line.isTooLong) {
      yield { kind: "problem", problem: tooLong(path, line) };
      continue;
    }
    const value = parsed(line.text);
    if (isObject(value)) yield { kind: "object", line, object: value };
    else yield { kind: "problem", problem: badLine(path, line, value === undefined) };
  }
}

function tooLong(path: string, { number, bytes }: SourceLine): ImportProblem {
  const message = `the line has ${bytes} bytes, more than can be read at once; it was left out`;
  return { code: "malformed-line", path, line: number, message };
}

function badLine(path: string, line: SourceLine, notJson: boolean): ImportProblem {
  const torn = notJson && !line.ended;
  return {
    code: torn ? "torn-line" : "malformed-line",
    path,
    line: line.number,
    message: torn
      ? "the last line is torn (its writer was stopped); it was left out"
      : `${notJson ? "no JSON" : "no JSON object"}; the line was left out`,
  };
}
