import type { JudgedEntry } from "./validate.js";

type Gate = (given: unknown) => JudgedEntry;
let gate: Gate | undefined;

/** The gate if it has been loaded: then an append needs no `await` before its transaction. */
export function loadedGate(): Gate | undefined {
  return gate;
}

/**
 * Loads the gate. zod and the schemas take about 40 ms, which whoever only reads never pays: a payload is judged on
 * its way in, and again only by `verify`.
 */
export async function loadGate(): Promise<Gate> {
  gate ??= (await import("./validate.js")).judgeEntry;
  return gate;
}
