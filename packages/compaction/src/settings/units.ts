import { z } from "zod";

/** A count of tokens. */
export const tokens = z.int().min(0);
/** A part of a whole: 0 to 1. */
export const share = z.number().min(0).max(1);
/** A count of things or characters. */
export const count = z.int().min(0);
/** A time, in milliseconds. */
export const ms = z.int().min(0);

/**
 * A part of the window (above 0, at most 1) or a number of tokens (100 or more). What lies between could be either and is
 * refused. The rule is VS Code Copilot Chat's.
 */
export const shareOrTokens = z
  .number()
  .refine(
    (given) => (given > 0 && given <= 1) || given >= 100,
    "must be a share of the window (above 0, at most 1) or tokens (100 or more)",
  );

/** The number of tokens that a `shareOrTokens` means in a window. */
export function tokensOf(given: number, windowTokens: number): number {
  return Math.floor(given <= 1 ? given * windowTokens : Math.min(given, windowTokens));
}
