import type { Matching } from "./matching.js";
import { createMatcher, type Fit, type FoldedText, type TermMatcher } from "./term-matcher.js";

/** The occurrences of the terms of a search in a text. */
export interface TermCounts {
  /** The number of occurrences of each term as whole words, in the order of the terms. */
  readonly occurrences: readonly number[];
  /** The least close match among the `atLeast` closest terms. */
  readonly fit: Fit;
}

/** Returns a function that counts the occurrences of each term in a text; undefined if too few of them occur. */
export function createCounter({ terms, atLeast }: Matching): (text: FoldedText) => TermCounts | undefined {
  const matchers = terms.map(createMatcher);
  return (text) => {
    const occurrences: number[] = [];
    const fits: Fit[] = [];
    for (const [at, matcher] of matchers.entries()) {
      const { whole, fit } = count(matcher, text);
      occurrences.push(whole);
      if (fit !== undefined) fits.push(fit);
      if (fits.length + matchers.length - at - 1 < atLeast) return undefined;
    }
    return { occurrences, fit: fits.sort()[atLeast - 1] ?? 0 };
  };
}

function count(matcher: TermMatcher, text: FoldedText): { readonly whole: number; readonly fit: Fit | undefined } {
  let whole = 0;
  let closest: Fit | undefined;
  matcher.visit(text, ({ fit }) => {
    if (fit === 0) whole += 1;
    if (closest === undefined || fit < closest) closest = fit;
    return true;
  });
  return { whole, fit: closest };
}
