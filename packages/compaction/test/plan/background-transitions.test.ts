import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type BackgroundEvent, type BackgroundState, nextBackground } from "../../src/plan/background-transitions.js";
import { startsAgain } from "../../src/plan/decide.js";

type State = BackgroundState<string>;
type Event = BackgroundEvent<string>;

const idle: State = { at: "idle" };
const running: State = { at: "running", attempt: "a" };
const ready: State = { at: "ready", attempt: "a", draft: "d" };
const failed: State = { at: "failed", attempt: "a" };

const start: Event = { type: "started", attempt: "b" };
const finish: Event = { type: "finished", attempt: "a", draft: "d" };
const fail: Event = { type: "failed", attempt: "a" };
const consume: Event = { type: "consumed" };
const cancel: Event = { type: "cancelled" };

const next = (attempt: string): State => ({ at: "running", attempt });

describe("the states of a background summary", () => {
  test.each<[string, State, Event, State]>([
    ["starts from rest", idle, start, next("b")],
    ["starts again after a failure", failed, start, next("b")],
    ["runs one at a time", running, start, running],
    ["does not start over a result that waits", ready, start, ready],
    ["keeps what the run has written", running, finish, ready],
    ["knows that the run failed", running, fail, failed],
    ["gives its result once", ready, consume, idle],
    ["forgets a failure that was told", failed, consume, idle],
    ["has nothing to give while it runs", running, consume, running],
    ["is ended while it runs", running, cancel, idle],
    ["throws a result away", ready, cancel, idle],
    ["ignores a result that comes after it was ended", idle, finish, idle],
    ["ignores a failure that comes after it was ended", idle, fail, idle],
    ["ignores the result of another attempt", next("b"), finish, next("b")],
  ])("%s", (_name, state, event, expected) => {
    expect(nextBackground(state, event)).toEqual(expected);
  });

  test("never has a result of a cancelled or superseded attempt, in any order of events", () => {
    const attempts = fc.constantFrom("a", "b", "c");
    const events = fc.oneof(
      attempts.map((attempt): Event => ({ type: "started", attempt })),
      attempts.map((attempt): Event => ({ type: "finished", attempt, draft: attempt })),
      attempts.map((attempt): Event => ({ type: "failed", attempt })),
      fc.constantFrom(consume, cancel),
    );
    fc.assert(
      fc.property(fc.array(events, { maxLength: 30 }), (all) => {
        let state: State = idle;
        let live: string | null = null;
        for (const event of all) {
          const after: State = nextBackground(state, event);
          if (after.at === "running" && after !== state) live = after.attempt;
          if (after.at === "idle") live = null;
          if (after.at === "ready") expect(after).toEqual({ at: "ready", attempt: live, draft: live });
          state = after;
        }
      }),
    );
  });
});

describe("a background run without a result", () => {
  const last = { turnId: null, thresholdTokens: 10_000, usedTokens: 8_000 };

  test.each<[string, Partial<typeof last> | { turnId: string }, boolean]>([
    ["is not started again for the same context", {}, false],
    ["is not started again for one that grew by less than a tenth of the threshold", { usedTokens: 8_999 }, false],
    ["is started again for one that grew by that, also in a turn whose prompt is summarized", { usedTokens: 9_000 }, true],
    [
      "is not started again for one that shrank by less than that, as by a token of a counter that is corrected",
      { usedTokens: 7_001 },
      false,
    ],
    ["is started again for one that shrank by that", { usedTokens: 7_000 }, true],
    ["is started again in a new turn", { turnId: "u2" }, true],
    ["is started again for another model or other settings", { thresholdTokens: 10_001 }, true],
  ])("%s", (_name, about, expected) => {
    expect(startsAgain(last, { ...last, ...about })).toBe(expected);
  });

  test("does not prevent a start after the next compaction", () => {
    expect(startsAgain(null, last)).toBe(true);
  });
});
