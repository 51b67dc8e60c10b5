import { BoughError } from "@bough/session-core";

/** The integrity violations of a store, as short texts. */
export async function violationsIn(store) {
  const all = [];
  for await (const { rule, message } of store.verify()) all.push(`${rule}: ${message}`);
  return all;
}

/** Reports the integrity violations of a store, and batches of which only a part was stored. */
export async function checkStore(attack, store, moment) {
  for (const finding of await violationsIn(store)) attack.finding(`${moment}: ${finding}`);
  const ids = await idsIn(store);
  const torn = [...ids].filter((id) => /\.[01]$/.test(id) && !ids.has(id.slice(0, -2)));
  if (torn.length > 0) attack.finding(`${moment}: a part of a batch: ${torn.join(" ")}`);
}

/** The ids of all entries of a store. */
export async function idsIn(store) {
  const ids = new Set();
  for (const { id } of (await store.listSessions({ empty: true })).items) {
    for await (const entry of (await store.openSession(id)).entries()) ids.add(entry.id);
  }
  return ids;
}

/** The acknowledged ids among the output lines of a child process. */
export function acknowledgedIn(output) {
  return output.filter((line) => line !== "opening" && line !== "ready");
}

/** Runs `body`. A BoughError is expected; any other error is a finding. */
export async function typed(attack, what, body) {
  try {
    return await body();
  } catch (error) {
    if (!(error instanceof BoughError)) attack.finding(`${what}: ${error?.stack ?? error}`);
    else attack.count(error.code);
    return undefined;
  }
}
