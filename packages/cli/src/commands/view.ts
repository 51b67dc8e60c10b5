import { spawn } from "node:child_process";
import { platform } from "node:os";
import { SessionMasks } from "@bough/formats/secrets";
import type { Session, SessionRecord, Store } from "@bough/session-core";
import { count, counted, type PriceList } from "@bough/session-core/view";
import { dateTime } from "../format/time.js";
import { bareDocument } from "../page/document.js";
import { type Html, html, joinHtml } from "../page/html.js";
import { pageMasks } from "../page/masks.js";
import { sessionPage } from "../page/page.js";
import { PageServer } from "../page/server.js";
import { chooseSession } from "../session/choose-session.js";
import { sessionTitle } from "../session/names.js";
import { withStore } from "../session/open-store.js";
import { readPrices } from "../session/prices.js";
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
    const masks = options.withSecrets === true ? undefined : new SessionMasks();
    const prices = await readPrices(io);
    const page = (path: string) => findPage(store, only, path, { ...options, prices }, masks);
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
async function findPage(
  store: Store,
  only: Session | undefined,
  path: string,
  options: ViewOptions & { prices: PriceList },
  lists: SessionMasks | undefined,
) {
  if (path === "" && only === undefined) return sessionListPage(store, lists);
  if (path !== "" && only !== undefined) return undefined;
  // A handle of its own, so that a reload shows what was appended meanwhile.
  const session = await store.openSession(only?.id ?? path);
  const masks = await pageMasks(session, options.withSecrets === true);
  return sessionPage(session, { ...masks, prices: options.prices, thinking: options.thinking === true, private: options.private === true });
}

/** The program that opens an address, and its arguments; undefined: there is none here. */
function browserCommand(system: NodeJS.Platform, env: Readonly<Record<string, string | undefined>>): readonly string[] | undefined {
  const chosen = env["BROWSER"]?.split(":")[0];
  if (chosen !== undefined && chosen !== "") return [chosen];
  if (system === "darwin") return ["open"];
  if (system === "win32") return ["explorer.exe"];
  const hasScreen = [env["DISPLAY"], env["WAYLAND_DISPLAY"], env["WSL_DISTRO_NAME"]].some((value) => value !== undefined && value !== "");
  return hasScreen ? ["xdg-open"] : undefined;
}

/** Opens an address in the person's browser: $BROWSER, or that of the desktop. Returns whether a program for it was started. */
async function openBrowser(address: string, env: Readonly<Record<string, string | undefined>>): Promise<boolean> {
  const [program, ...args] = browserCommand(platform(), env) ?? [];
  if (program === undefined) return false;
  const child = spawn(program, [...args, address], { stdio: "ignore", detached: true });
  child.unref();
  return new Promise((resolve) => child.once("spawn", () => resolve(true)).once("error", () => resolve(false)));
}

/** A page with links to the sessions of a store, newest activity first. `masks` replace secrets in their titles. */
async function* sessionListPage(store: Store, masks: SessionMasks | undefined): AsyncGenerator<string, void, void> {
  const records: SessionRecord[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.listSessions(cursor === undefined ? {} : { cursor });
    records.push(...page.items);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  const mask = async (text: string, { id }: SessionRecord) => (await masks?.maskTitle(text, () => store.openSession(id))) ?? text;
  const items: Html[] = [];
  for (const record of records) items.push(await sessionItem(record, (text) => mask(text, record)));
  yield bareDocument(
    "Sessions",
    html`<h1>Sessions</h1><p>${counted(records.length, "session")}</p><ul class="sessions">${joinHtml(items)}</ul>`,
  ).text;
}

async function sessionItem(record: SessionRecord, mask: (text: string) => Promise<string>): Promise<Html> {
  const title = sessionTitle(record);
  const facts = [dateTime(record.activeAtMs), `${count(record.messageCount)} messages`, record.cwd ?? ""].filter((fact) => fact !== "");
  return html`<li><a href="${encodeURIComponent(record.id)}">${await mask(title)}</a><span>${await mask(facts.join(" · "))}</span></li>\n`;
}
