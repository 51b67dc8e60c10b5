import type { Compactor } from "@bough/compaction";
import type { Session, SessionId, Store } from "@bough/session-core";
import { loadConfig } from "../config/config-file.js";
import { CommandError } from "../errors.js";
import { textLines } from "../format/entry-lines.js";
import type { NavigatorOpening } from "../navigator/navigator.js";
import { runNavigator, type VisitsEnd, type WithVisited } from "../navigator/visits.js";
import { chooseSession, describeLeaf } from "../session/choose-session.js";
import { resolveEntry } from "../session/names.js";
import { withStore } from "../session/open-store.js";
import type { Io, Terminal } from "../terminal/io.js";
import { styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import type { Invocation } from "./command.js";

/** `bough tree [SESSION] [ENTRY] -i`: opens the navigator, at an entry if one is named, then prints its result. */
export async function navigateTree({ io, out, args, options }: Invocation): Promise<void> {
  const { terminal } = io;
  if (terminal === undefined)
    throw new CommandError("NO_TERMINAL", "The navigator needs a terminal. `bough tree SESSION` prints the same tree.");
  await withStore(io, options.store, "change", async (store) => {
    const { session } = await chooseSession(store, io, out, args[0], "store");
    const entryId = args[1] === undefined ? null : await resolveEntry(session, out, args[1]);
    const end = await navigateUntilDone(io, terminal, store, session.id, { entryId });
    await printEnd(out, store, end);
  });
}

/** Shows the navigator of a session, and that of a fork made in it, until the user closes it or moves the leaf. */
export async function navigateUntilDone(
  io: Io,
  terminal: Terminal,
  store: Store,
  sessionId: SessionId,
  opening: NavigatorOpening,
): Promise<VisitsEnd> {
  const { navigator, keys, mouse } = await loadConfig(io);
  const preferences = { ...navigator, keys: keys?.navigator, mouse };
  const withVisited: WithVisited = async (id, work) => {
    const session = await store.openSession(id);
    let compactor: Promise<Compactor> | undefined;
    const world = {
      store,
      session,
      compactor: () => (compactor ??= openCompactor(io, session)),
      io,
      rememberChoice: async () => undefined,
    };
    try {
      return await work(world, await session.record());
    } finally {
      // A compactor that could not be opened was reported on the screen, to the move that needed it.
      await (await compactor?.catch(() => undefined))?.close();
    }
  };
  for (let next: { sessionId: SessionId; opening?: NavigatorOpening } = { sessionId, opening }; ; ) {
    const end = await runNavigator(terminal, withVisited, next, preferences);
    if (end.result.kind !== "forked") return end;
    next = { sessionId: end.result.sessionId };
  }
}

async function openCompactor(io: Io, session: Session): Promise<Compactor> {
  return (await import("../agent/summary-model.js")).openSummaryCompactor(io, session);
}

/** Prints the leaf after a move, the message to send again, and the command that continues the session. */
export async function printEnd(out: Printer, store: Store, { sessionId, result }: VisitsEnd): Promise<void> {
  if (result.kind === "deleted") return out.note("Another process deleted this session.");
  if (result.kind !== "moved") return;
  const session = await store.openSession(sessionId);
  out.line(styled("dim", "leaf: "), await describeLeaf(session, out));
  if (result.text !== null) {
    out.line(styled("dim", "Your message, to be sent again:"));
    await out.lines(textLines(result.text));
  }
  out.line(styled("dim", `Go on here: bough --session ${sessionId}`));
}
