import { Tiktoken } from "js-tiktoken/lite";
import cl100k from "js-tiktoken/ranks/cl100k_base";
import o200k from "js-tiktoken/ranks/o200k_base";

/** Each encoding with js-tiktoken's count of a text, in which special tokens are text. */
export const REFERENCES = (
  [
    ["o200k_base", o200k],
    ["cl100k_base", cl100k],
  ] as const
).map(([encoding, table]) => {
  const theirs = new Tiktoken(table);
  return [encoding, (text: string) => theirs.encode(text, [], []).length] as const;
});
