import type { TokenCounter } from "./counter.js";

/** provisional */
export async function loadCounter(tokenizer: "o200k_base" | "cl100k_base" | "rough"): Promise<TokenCounter> {
  if (tokenizer === "rough") return { name: "rough/0", count: (text) => Math.ceil(text.length / 3) };
  const { Tiktoken } = await import("js-tiktoken/lite");
  const table = tokenizer === "o200k_base" ? await import("js-tiktoken/ranks/o200k_base") : await import("js-tiktoken/ranks/cl100k_base");
  const encoder = new Tiktoken(table.default);
  const count = (text: string) => {
    let tokens = 0;
    for (let at = 0; at < text.length; at += 256) tokens += encoder.encode(text.slice(at, at + 256), [], []).length;
    return tokens;
  };
  return { name: `${tokenizer}/0`, count };
}
