import { createQueryFinder } from "@bough/session-core/engine";
import { describe, expect, test } from "vitest";
import { choosePassages } from "../../src/recall/passages.js";

const find = (query: string) => createQueryFinder(query, { kind: "all" });
const filler = (count: number) => Array.from({ length: count }, (_, at) => `line ${at} without anything that matters here, only padding`);

describe("the passages of an entry", () => {
  test("are those where the words stand close together, with their line numbers", () => {
    const lines = [...filler(30), "the lexer", ...filler(30), "tabs break the lexer", ...filler(30), "tabs"];
    const [best] = choosePassages(lines.join("\n"), find("lexer tabs"), 1);
    expect([best?.line, best?.text.split("\n")[1]]).toEqual([61, "tabs break the lexer"]);
    expect(choosePassages(lines.join("\n"), find("lexer tabs"), 3).map(({ line }) => line)).toEqual([30, 61, 92]);
  });

  test("are in the order of the text and do not overlap", () => {
    const lines = filler(60).map((line, at) => (at % 7 === 0 ? `lexer ${line}` : line));
    const passages = choosePassages(lines.join("\n"), find("lexer"), 3);
    expect(passages).toHaveLength(3);
    const ends = passages.map(({ line, text }) => line + text.split("\n").length - 1);
    for (const [at, { line }] of passages.slice(1).entries()) expect(line).toBeGreaterThan(ends[at] ?? 0);
  });

  test("of a short text are all of it", () => {
    expect(choosePassages("one\ntwo lexer\nthree", find("lexer"), 3)).toEqual([{ line: 1, text: "one\ntwo lexer\nthree" }]);
  });

  test("show a rare word below very many common ones", () => {
    const lines = Array.from({ length: 5_000 }, (_, at) => (at === 4_000 ? "the needle" : "error again"));
    expect(choosePassages(lines.join("\n"), find("error needle"), 3).some(({ text }) => text.includes("needle"))).toBe(true);
  });

  test("show the words also where a line is as long as a file", () => {
    const [only] = choosePassages(`${"x ".repeat(50_000)}needle${" y".repeat(50_000)}`, find("needle"), 3);
    expect(only?.text).toContain("needle");
    expect(only?.text.length).toBeLessThan(400);
  });

  test("without a word are the beginning", () => {
    expect(choosePassages(filler(40).join("\n"), null, 3)).toEqual([{ line: 1, text: filler(2).join("\n") }]);
  });
});
