import type { SearchRequest } from "@bough/session-core";
import { loadConfig } from "../config/config-file.js";
import { CommandError } from "../errors.js";
import { type FinderEnd, type FinderStart, finderScreen } from "../finder/finder.js";
import type { NavigatorOpening } from "../navigator/navigator.js";
import { resolveSession } from "../session/names.js";
import { withStore } from "../session/open-store.js";
import { runScreen } from "../tui/run-screen.js";
import type { Invocation } from "./command.js";
import { navigateUntilDone, printEnd } from "./tree-interactive.js";

/**
 * `bough search -i`: finds entries while the query is typed. A hit opens the tree of its session, and closing that returns to the
 * finder; a move of the leaf ends both.
 */
export async function searchInteractively(
  { io, out, options }: Invocation<{ readonly session?: string }>,
  { query, limit: _limit, ...conditions }: SearchRequest,
  described: string,
): Promise<void> {
  const { terminal } = io;
  if (terminal === undefined)
    throw new CommandError("NO_TERMINAL", "The search on the screen needs a terminal. `bough search WORDS` prints the hits.");
  const { keys, mouse } = await loadConfig(io);
  await withStore(io, options.store, "change", async (store) => {
    const sessionId = options.session === undefined ? undefined : (await resolveSession(store, io, out, options.session)).id;
    const world = { store, io, described, conditions: { ...conditions, ...(sessionId === undefined ? {} : { sessionId }) } };
    for (let start: FinderStart = { query, keys: keys?.finder }; ; ) {
      const { result, model }: FinderEnd = await runScreen(terminal, finderScreen(world, start, mouse));
      if (result.kind === "closed") return;
      const end = await navigateUntilDone(io, terminal, store, result.sessionId, openingAt(result));
      if (end.result.kind === "moved") return printEnd(out, store, end);
      start = { resumed: model };
    }
  });
}

/** Where the tree opens: at the hit, with the words of the query; these may be filters alone. */
function openingAt({ entryId, query }: Extract<FinderEnd["result"], { kind: "open" }>): NavigatorOpening {
  if (entryId === null) return {};
  return query === "" ? { entryId } : { entryId, query };
}
