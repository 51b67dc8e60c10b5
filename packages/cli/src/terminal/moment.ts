// Longer than the 660 ms at most after which a key that is held down begins to repeat.
const STEPS = 8;
const STEP_MS = 100;

/** Calls `then` once a moment has passed, and gives what cancels that. */
export type AfterMoment = (then: () => void) => () => void;

/**
 * After 800 ms, and after what was typed by then has been read. The time is counted in steps, so that a process that
 * stands still does not use it up before it has drawn what a person is to see.
 */
export const afterMoment: AfterMoment = (then) => {
  let left = STEPS;
  let reading: NodeJS.Immediate | undefined;
  const step = setInterval(() => {
    left -= 1;
    if (left > 0) return;
    clearInterval(step);
    // Timers run before input is read, and immediates after it.
    reading = setImmediate(then);
  }, STEP_MS);
  return () => {
    clearInterval(step);
    if (reading !== undefined) clearImmediate(reading);
  };
};
