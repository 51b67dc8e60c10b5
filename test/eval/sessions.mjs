// The sessions that are evaluated: the bundled demo, and real ones of other agents where their folder is there.

import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { importPath } from "@bough/formats";
import { openStore } from "@bough/session-core";
import { realSession } from "../../.ci/real-sessions.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const PLACES = [join(root, "packages/cli/demo/sample.jsonl"), realSession("pi"), realSession("claude")];

/** A session that has no more than these was never going to be compacted. */
const LEAST_MESSAGES = 5;

/** A store in memory with every session that is worth compacting. `say` hears what was left out. */
export async function openSessions(say) {
  const store = await openStore({ path: ":memory:" });
  const sessions = [];
  for (const place of PLACES) {
    if (!existsSync(place)) {
      say(`not there, left out: ${place}`);
      continue;
    }
    const report = await importPath(store, place);
    for (const { path, error } of report.failed) say(`could not be imported: ${path}: ${error.message}`);
    for (const imported of report.sessions) {
      const session = await store.openSession(imported.sessionId);
      const { messages } = await session.context();
      const title = `${imported.format}/${basename(imported.path, ".jsonl").slice(0, 20)}`;
      if (messages.length < LEAST_MESSAGES) say(`${title}: ${messages.length} messages, left out`);
      else sessions.push({ title, session });
    }
  }
  return { store, sessions };
}
