import type { Compactor } from "@bough/compaction";
import type { Session } from "@bough/session-core";
import { NoTerminalError } from "../errors.js";
import { textLines } from "../format/entry-lines.js";
import type { NavigatorResult } from "../navigator/model.js";
import { navigatorScreen } from "../navigator/navigator.js";
import { chooseSession, describeLeaf } from "../session/choose-session.js";
import { withStore } from "../session/open-store.js";
import type { Io } from "../terminal/io.js";
import { styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { runScreen } from "../tui/run-screen.js";
import type { CommonOptions, Invocation } from "./command.js";

/** `bough tree -i`: opens the navigator, then prints its result. */
export async function navigateTree({ io, out, args, options }: Invocation<CommonOptions>): Promise<void> {
  const { terminal } = io;
  if (terminal === undefined) throw new NoTerminalError("The navigator needs a terminal. `bough tree SESSION` prints the same tree.");
  await withStore(io, options.store, "change", async (store) => {
    const { session, record } = await chooseSession(store, io, out, args[0], "store");
    let compactor: Promise<Compactor> | undefined;
    const world = {
      store,
      session,
      compactor: () => (compactor ??= openCompactor(io, session)),
      io,
      rememberChoice: async () => undefined,
    };
    try {
      await printResult(out, session, await runScreen(terminal, navigatorScreen(world, record, {})));
    } finally {
      // A compactor that could not be opened was reported on the screen, to the move that needed it.
      await (await compactor?.catch(() => undefined))?.close();
    }
  });
}

async function openCompactor(io: Io, session: Session): Promise<Compactor> {
  return (await import("../session/summary-compactor.js")).openSummaryCompactor(io, session);
}

async function printResult(out: Printer, session: Session, result: NavigatorResult): Promise<void> {
  switch (result.kind) {
    case "closed":
      return;
    case "deleted":
      return out.note("Another process deleted this session.");
    case "forked":
      return out.line(styled("dim", "new session: "), result.sessionId);
    case "moved":
      out.line(styled("dim", "leaf: "), await describeLeaf(session));
      if (result.text === null) return;
      out.line(styled("dim", "Message to resend:"));
      for (const line of textLines(result.text)) out.line(...line);
  }
}
