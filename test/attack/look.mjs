import { BoughError } from "@bough/session-core";

/** Everything that does not hold in a store, as short texts. */
export async function findingsOf(store) {
  const all = [];
  for await (const { rule, message } of store.verify()) all.push(`${rule}: ${message}`);
  return all;
}

/** Runs `body`; what it throws is an error of ours or a finding. */
export async function typed(room, what, body) {
  try {
    return await body();
  } catch (error) {
    if (!(error instanceof BoughError)) room.finding(`${what}: ${error?.stack ?? error}`);
    else room.count(error.code);
    return undefined;
  }
}
