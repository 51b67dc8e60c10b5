import { Buffer } from "node:buffer";

/** The name of a vocabulary. */
export type Encoding = "o200k_base" | "cl100k_base";

/**
 * A vocabulary: byte strings (one character for each byte) with their ranks, which are also their ids, and the pattern that
 * cuts a text into pieces. Each piece is encoded by itself. o200k_base takes about 25 MB of memory.
 */
export interface RankTable {
  readonly pattern: RegExp;
  readonly ranks: ReadonlyMap<string, number>;
  /** The byte string of each id; ids of special tokens are holes. */
  readonly byteStrings: readonly string[];
}

/**
 * Loads a rank table of js-tiktoken. Only its tables are used: the cost of its encoder grows with the square of the length of
 * a run without a break (10,000 equal letters take 10 s).
 */
export async function loadRankTable(encoding: Encoding): Promise<RankTable> {
  const { default: table } =
    encoding === "o200k_base" ? await import("js-tiktoken/ranks/o200k_base") : await import("js-tiktoken/ranks/cl100k_base");
  const ranks = new Map<string, number>();
  const byteStrings: string[] = [];
  // Lines of `! first-id base64 base64 …`.
  for (const line of table.bpe_ranks.split("\n")) {
    const [, first = "0", ...tokens] = line.split(" ");
    for (const [at, token] of tokens.entries()) {
      const bytes = Buffer.from(token, "base64").toString("latin1");
      ranks.set(bytes, Number(first) + at);
      byteStrings[Number(first) + at] = bytes;
    }
  }
  // A capturing group would create a string for each piece.
  return { pattern: new RegExp(table.pat_str.replaceAll("('s", "(?:'s"), "gu"), ranks, byteStrings };
}
