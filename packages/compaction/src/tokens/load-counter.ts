import * as rules from "@bough/session-core/arguments";
import { BpeCounter } from "./tiktoken/bpe-counter.js";
import { type Encoding, loadRankTable } from "./tiktoken/rank-table.js";
import { roughCounter, type TokenCounter } from "./token-counter.js";

const loading = new Map<Encoding, Promise<TokenCounter>>();

/**
 * The counter of a vocabulary, or the estimate `rough`. The tables of a vocabulary are loaded at its first use in a process and
 * shared; a load that failed is tried again by the next call.
 *
 * @example
 * const counter = await loadCounter("o200k_base");
 * counter.count("Hello, world"); // 3
 */
export async function loadCounter(tokenizer: Encoding | "rough"): Promise<TokenCounter> {
  rules.checkArgument("tokenizer", tokenizer, rules.oneOf("o200k_base", "cl100k_base", "rough"));
  if (tokenizer === "rough") return roughCounter;
  const known = loading.get(tokenizer);
  if (known !== undefined) return known;
  const counter = load(tokenizer);
  loading.set(tokenizer, counter);
  return counter;
}

async function load(encoding: Encoding): Promise<TokenCounter> {
  try {
    return new BpeCounter(`${encoding}/1`, await loadRankTable(encoding));
  } catch (error) {
    loading.delete(encoding);
    throw error;
  }
}
