import { maskSecrets, type Session, type Store } from "@bough/session-core";
import { pageMasks } from "../page/masks.js";
import { openBrowser } from "../page/open-browser.js";
import { sessionPage } from "../page/page.js";
import { PageServer } from "../page/server.js";
import { sessionListPage } from "../page/session-list.js";
import { chooseSession } from "../session/choose-session.js";
import { withStore } from "../session/open-store.js";
import { styled } from "../terminal/line.js";
import type { Command, CommonOptions } from "./command.js";

interface ViewOptions extends CommonOptions {
  readonly port: number;
  readonly open: boolean;
  /** Minutes. */
  readonly idle: number;
  readonly thinking?: boolean;
  readonly private?: boolean;
  readonly withSecrets?: boolean;
}

/** `bough view`: serves the page of a session, or of all sessions with a list of them, on the loopback interface until it is stopped. */
export const runView: Command<ViewOptions> = async ({ io, out, args, options }) => {
  await withStore(io, options.store, "read", async (store) => {
    const only = args[0] === undefined ? undefined : (await chooseSession(store, io, out, args[0], "store")).session;
    const page = (path: string) => findPage(store, only, path, options);
    const server = await PageServer.start({ port: options.port, idleMs: options.idle * 60_000, page });
    const { signal, end } = io.cancelOnInterrupt();
    signal.addEventListener("abort", () => server.close());
    if (signal.aborted) server.close();
    if (options.json === true) out.json({ address: server.address });
    else out.line(server.address);
    await out.flush();
    const stops = options.idle === 0 ? "" : `, or ${options.idle} minutes without a request`;
    await out.note(styled("dim", `Whoever knows this address can read it, on this machine only. Ctrl+C stops it${stops}.`));
    if (options.open && !(await openBrowser(server.visit, io.env)))
      await out.note(styled("dim", "No browser could be started: open the address yourself."));
    await server.ended;
    end();
  });
};

/** The page at a path: the list of sessions, or one of them. Undefined: there is none. @throws {SessionNotFoundError} */
async function findPage(store: Store, only: Session | undefined, path: string, options: ViewOptions) {
  const withSecrets = options.withSecrets === true;
  if (path === "" && only === undefined) return sessionListPage(store, (text) => (withSecrets ? text : maskSecrets(text).text));
  if (path !== "" && only !== undefined) return undefined;
  // A handle of its own, so that a reload shows what was appended meanwhile.
  const session = await store.openSession(only?.id ?? path);
  const masks = await pageMasks(session, withSecrets);
  return sessionPage(session, { ...masks, thinking: options.thinking === true, private: options.private === true });
}
