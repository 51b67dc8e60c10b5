import type { TokenCounter } from "./counter.js";

/** provisional */
export const roughCounter: TokenCounter = { name: "rough/0", count: (text) => Math.ceil(text.length / 3) };
