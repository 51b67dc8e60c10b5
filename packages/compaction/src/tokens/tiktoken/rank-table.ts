import { Buffer } from "node:buffer";

/** Which vocabulary. */
export type Encoding = "o200k_base" | "cl100k_base";

/**
 * A vocabulary: byte strings (one character for each byte) and their ranks, which are also their ids; and the pattern that
 * cuts a text into pieces, each of which is encoded by itself. In memory about 25 MB for o200k_base.
 */
export interface RankTable {
  readonly pattern: RegExp;
  readonly ranks: ReadonlyMap<string, number>;
  /** The byte string of each id; holes where special tokens are. */
  readonly byteStrings: readonly string[];
}

/**
 * The one place that knows js-tiktoken: its rank tables, loaded when they are first asked for. Its encoder is not used: its
 * cost grows with the square of an unbroken run (10,000 equal letters take 10 s).
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
  // Groups that capture cost a string for each piece.
  return { pattern: new RegExp(table.pat_str.replaceAll("('s", "(?:'s"), "gu"), ranks, byteStrings };
}
