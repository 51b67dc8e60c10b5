import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { holdInput, releaseInput, startsShell } from "../../src/terminal/early-input.js";

/** A terminal's input, for keys that are written to it. */
function input() {
  const raw: boolean[] = [];
  return Object.assign(new PassThrough(), { raw, setRawMode: (on: boolean) => raw.push(on), ref: () => undefined, unref: () => undefined });
}

test("what is typed before raw mode begins and after comes to the next reader, Enter as Enter, and what was printed of it is told", async () => {
  const stdin = input();
  stdin.write("one\ntw");
  holdInput(stdin, () => undefined);
  expect(stdin.raw).toEqual([true]);
  await setImmediate();
  await setImmediate();
  stdin.write("o\n");
  await setImmediate();
  expect(releaseInput()).toBe("tw");
  expect(stdin.read().toString()).toBe("one\rtwo\n");
  expect(releaseInput()).toBe("");
});

test("Ctrl-C interrupts", async () => {
  const stdin = input();
  let interrupted = 0;
  holdInput(stdin, () => {
    interrupted += 1;
  });
  stdin.write("abc\u0003");
  await setImmediate();
  expect(interrupted).toBe(1);
  releaseInput();
});

test.each([
  ["", true],
  ["shell --new", true],
  ["--session lexer --store x.db", true],
  ["sessions", false],
  ["--store x.db sessions", false],
  ["--help", false],
  ["--version", false],
])("the command line %j starts the shell: %s", (line, expected) => {
  expect(startsShell(line.split(" ").filter((word) => word !== ""))).toBe(expected);
});
