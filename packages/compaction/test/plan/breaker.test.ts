import { describe, expect, test } from "vitest";
import { asksModel, type Breaker, INITIAL_BREAKER, nextBreaker, type Outcome } from "../../src/plan/decide.js";
import { readSettings } from "../../src/settings/read-settings.js";

const { breaker: settings } = readSettings("balanced");
const failure: Outcome = { saved: null, askedModel: true };
const after = (outcomes: readonly Outcome[]): Breaker => outcomes.reduce((state, outcome) => nextBreaker(state, outcome), INITIAL_BREAKER);

describe("the breaker", () => {
  test("stops asking a model after three failures in a row", () => {
    expect(asksModel(after([failure, failure]), settings)).toBe(true);
    expect(asksModel(after([failure, failure, failure]), settings)).toBe(false);
  });

  test("tries the model again after ten compactions without it", () => {
    const skipped: Outcome = { saved: 0.5, askedModel: false };
    const open = [failure, failure, failure, ...Array.from({ length: 9 }, () => skipped)];
    expect(asksModel(after(open), settings)).toBe(false);
    expect(asksModel(after([...open, skipped]), settings)).toBe(true);
    // A probe that fails closes the door again.
    expect(asksModel(after([...open, skipped, failure]), settings)).toBe(false);
  });

  test("stops after two compactions in a row that saved less than a tenth", () => {
    const useless: Outcome = { saved: 0.09, askedModel: true };
    expect(asksModel(after([useless]), settings)).toBe(true);
    expect(asksModel(after([useless, useless]), settings)).toBe(false);
    expect(asksModel(after([useless, { saved: 0.1, askedModel: true }, useless]), settings)).toBe(true);
  });

  test("never opens where the settings are 0", () => {
    const off = readSettings("pi").breaker;
    expect(asksModel(after([failure, failure, failure, failure]), off)).toBe(true);
  });
});
