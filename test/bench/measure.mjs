/** How long `work` takes, in milliseconds; a promise is awaited. */
export async function timed(work) {
  const start = performance.now();
  const given = work();
  if (given instanceof Promise) await given;
  return performance.now() - start;
}

/**
 * Runs the contestants one after the other, round by round, so that whatever else the machine does meets all of them:
 * ours, baseline, ours, baseline… Each is `{ prepare?, run }`; only `run` is timed. The first rounds, in which code is
 * compiled and caches are filled, do not count.
 *
 * @returns for each contestant its times in milliseconds.
 */
export async function alternate(contestants, { rounds, warmUp = Math.ceil(rounds / 10) }) {
  const times = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
  for (let round = -warmUp; round < rounds; round++) {
    for (const [name, { prepare, run }] of Object.entries(contestants)) {
      await prepare?.(round);
      const took = await timed(() => run(round));
      if (round >= 0) times[name].push(took);
    }
  }
  return times;
}

/** The value that `share` of `values` do not exceed. */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

export function median(values) {
  return quantile(values, 0.5);
}

/** Lets timers and input have their turn, as between two steps of an agent. */
export function pause() {
  return new Promise((resolve) => setImmediate(resolve));
}
