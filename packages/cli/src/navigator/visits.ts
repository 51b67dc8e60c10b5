import { type SessionId, SessionNotFoundError, type SessionRecord } from "@bough/session-core";
import type { Terminal } from "../terminal/io.js";
import { runScreen } from "../tui/run-screen.js";
import type { NavigatorModel, NavigatorResult, NavigatorStep, NavigatorWorld } from "./model.js";
import { type NavigatorOpening, type NavigatorPreferences, navigatorScreen } from "./navigator.js";

/** Opens a session for a navigator, runs `work` with it, and closes it. */
export type WithVisited = <T>(id: SessionId, work: (world: NavigatorWorld, record: SessionRecord) => Promise<T>) => Promise<T>;

/** The result of the last navigator, and its session. */
export interface VisitsEnd {
  readonly sessionId: SessionId;
  readonly result: Exclude<NavigatorResult, { kind: "visit" }>;
}

/**
 * Shows the navigator of a session until it has a result. From it the user can visit other sessions, such as that of a subagent;
 * closing a visited session returns to the session before it as it was left.
 */
export async function runNavigator(
  terminal: Terminal,
  withVisited: WithVisited,
  first: { readonly sessionId: SessionId; readonly opening?: NavigatorOpening | undefined },
  preferences: NavigatorPreferences,
): Promise<VisitsEnd> {
  const left: { readonly sessionId: SessionId; readonly model: NavigatorModel }[] = [];
  let next: { readonly sessionId: SessionId; readonly opening?: NavigatorOpening | undefined; readonly model?: NavigatorModel } = first;
  for (;;) {
    const { sessionId, opening, model } = next;
    const result = await withVisited(sessionId, async (world, record) => {
      const screen = navigatorScreen(world, record, preferences, { ...opening, isVisit: left.length > 0 });
      const start = model === undefined ? screen.start : (size: NavigatorModel["size"]) => resumeNavigator(model, size);
      const ended = await runScreen(terminal, {
        ...screen,
        start,
        result: (now) => (now.result === undefined ? undefined : { now, result: now.result }),
      });
      if (ended.result.kind === "visit") left.push({ sessionId, model: ended.now });
      return ended.result;
    }).catch(deletedIfMissing);
    if (result.kind === "visit") {
      next = { sessionId: result.sessionId, opening: { entryId: result.entryId } };
      continue;
    }
    const before = result.kind === "closed" || result.kind === "deleted" ? left.pop() : undefined;
    if (before === undefined) return { sessionId, result };
    const notice = result.kind === "deleted" ? { text: "That session is not in the store.", isError: false } : null;
    next = { ...before, model: { ...before.model, notice } };
  }
}

/** Another process deleted the session, or the session that names it was imported without it. */
function deletedIfMissing(error: unknown): NavigatorResult {
  if (error instanceof SessionNotFoundError) return { kind: "deleted" };
  throw error;
}

/** A navigator as it was when another session was visited. Its tree is read again, at once. */
function resumeNavigator(model: NavigatorModel, size: NavigatorModel["size"]): NavigatorStep {
  return { model: { ...model, size, result: undefined }, effects: [{ kind: "load", entries: 0, rows: size.rows }] };
}
