import { describe, expect, test } from "vitest";
import { InvalidQueryError } from "../../src/errors/session-errors.js";
import { createQueryFinder } from "../../src/rules/search/query-matches.js";

const marked = (query: string, text: string, most = 10) =>
  createQueryFinder(query, { kind: "all" })
    .find(text, most)
    .map(({ start, end }) => text.slice(start, end));

describe("the places of a query in a text", () => {
  test.each([
    ["a word, its beginning and its parts", "text", "Text, texts and MessageText", ["Text", "text", "Text"]],
    ["a part of a file name", "kipped", "see src/skipped.ts", ["kipped"]],
    ["of two letters only beginnings", "te", "texts, note", ["te"]],
    ["of one letter only the word", "c", "c, C++, a cat", ["c", "C"]],
    ["only the word in quotation marks", '"text"', "text, texts, MessageText", ["text"]],
    ["only beginnings with a star", "text*", "texts, MessageText", ["text"]],
    ["words of a question as whole words", "what is the text", "the text is what others contexts", ["the", "text", "is", "what"]],
    ["what has other characters as it was typed", "C++", "c, C++ and c+", ["C++"]],
    ["an option", "--flag", "flag, --flags", ["--flag"]],
    ["a call", "foo()", "foo, barFoo(), foo( )", ["Foo()"]],
    ["an arrow", "a->b", "a b, a->b, ba->bc", ["a->b", "a->b"]],
    ["an emoji", "👍", "ok 👍🏽 👎", ["👍"]],
    ["an emoji with or without its selector", "❤️", "❤ ❤️", ["❤", "❤️"]],
    ["nothing but punctuation", "=>", "x => y", ["=>"]],
    ["a word at the end of a sentence", "text?", "a text", ["text"]],
    ["a literal text with other spaces", '"foo() {"', "foo()\n  {", ["foo()\n  {"]],
    ["a phrase that is not closed", '"the tex', "the texts", ["the tex"]],
    ["accents", "resume", "Résumé, Re\u0301sume\u0301s", ["Résumé", "Re\u0301sume\u0301"]],
    ["an expression, which heeds case", "/T\\w+t/", "Test text TxTx", ["Test"]],
    ["an expression that does not", "/t\\w+t\\b/i", "Test text", ["Test", "text"]],
    ["lines of an expression", "/^b.*$/", "a\nbc\nd", ["bc"]],
    ["an expression with a space and a slash", "/a [/] b/", "a / b", ["a / b"]],
    ["a path, which is no expression", "/usr/bin", "in /usr/bin/env", ["/usr/bin"]],
    ["expressions that match nothing", "/x*/", "abc", []],
  ])("%s", (_what, query, text, expected) => {
    expect(marked(query, text)).toEqual(expected);
  });

  test("of each term at most as many as wanted", () => {
    expect(marked("a1 b1", "a1 a1 b1 a1", 1)).toEqual(["a1", "b1"]);
  });

  test("end where an expression takes too long", () => {
    expect(marked("/^(a+)+$/", `${"a".repeat(5000)}b`)).toEqual([]);
  });

  test.each([
    ["/a(b/", "unterminated group at character 2"],
    ["/(a)(b/", "unterminated group at character 4"],
    ["/a[b/", "unterminated character class at character 2"],
    ["/a[b/i tabs", "unterminated character class at character 2"],
    ["/a**/", "nothing to repeat at character 3"],
    ["/a)/", "unmatched ')' at character 2"],
    ["/[z-a]x/", "range out of order in character class at character 4"],
    ["/(?<n>a)(?<n>b)/", "duplicate capture group name at character 14"],
  ])("of the invalid expression %s are told with its position", (query, reason) => {
    expect(() => createQueryFinder(query, { kind: "all" })).toThrow(InvalidQueryError);
    expect(() => createQueryFinder(query, { kind: "all" })).toThrow(reason);
  });
});
