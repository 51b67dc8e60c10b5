/** How long `work` takes, in milliseconds; a promise is awaited. */
export async function timed(work) {
  const start = performance.now();
  const given = work();
  if (given instanceof Promise) await given;
  return performance.now() - start;
}

/**
 * Runs the contestants one after the other, round by round, so that other load on the machine affects all of them:
 * ours, baseline, ours, baseline… Each is `{ prepare?, run }`; only `run` is timed. The first rounds, in which code is
 * compiled and caches are filled, do not count. `turnAbout`: each round starts with the next one, for contestants that
 * follow each other closely and do not need each other's results.
 *
 * @returns for each contestant its times in milliseconds.
 */
export async function alternate(contestants, { rounds, warmUp = Math.max(10, Math.ceil(rounds / 10)), turnAbout = false }) {
  const times = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
  for (let round = -warmUp; round < rounds; round++) {
    for (const [name, { prepare, run }] of inTurn(Object.entries(contestants), turnAbout ? round + warmUp : 0)) {
      await prepare?.(round);
      const took = await timed(() => run(round));
      if (round >= 0) times[name].push(took);
    }
  }
  return times;
}

function inTurn(list, round) {
  const first = round % list.length;
  return [...list.slice(first), ...list.slice(0, first)];
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
