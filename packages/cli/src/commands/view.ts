import { spawn } from "node:child_process";
import { platform } from "node:os";
import { counted } from "@bough/session-core/view";
import { quotePath } from "../format/path.js";
import { ServedStore } from "../page/served-store.js";
import { type PageRequest, PageServer } from "../page/server.js";
import { chooseSession } from "../session/choose-session.js";
import { withStore } from "../session/open-store.js";
import { readPrices } from "../session/prices.js";
import { withoutKeys } from "../terminal/child-environment.js";
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
  await withStore(io, options.store, "read", async (store, { name }) => {
    const only = args[0] === undefined ? undefined : (await chooseSession(store, io, out, args[0], "store")).session;
    const served = new ServedStore(store, {
      only,
      prices: await readPrices(io),
      thinking: options.thinking === true,
      private: options.private === true,
      withSecrets: options.withSecrets === true,
      store: options.store === undefined ? undefined : quotePath(name),
      now: () => io.now(),
    });
    const answer = (request: PageRequest) => served.answer(request);
    const server = await PageServer.start({ port: options.port, name, idleMs: options.idle * 60_000, answer });
    await served.start(new URL(server.address).pathname);
    const { signal, end } = io.cancelOnInterrupt();
    signal.addEventListener("abort", () => server.close());
    if (signal.aborted) server.close();
    if (options.json === true) out.json({ address: server.address });
    else out.line(server.address);
    await out.flush();
    const stops = options.idle === 0 ? "" : `, or ${counted(options.idle, "minute")} without a request`;
    await out.note(styled("dim", `Whoever knows this address can read it, on this machine only. Ctrl+C stops it${stops}.`));
    if (options.open && !(await openBrowser(server.visit, io.env)))
      await out.note(styled("dim", "No browser could be started: open the address yourself."));
    await server.ended;
    served.end();
    end();
  });
};

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
  const child = spawn(program, [...args, address], { stdio: "ignore", detached: true, env: withoutKeys(env) });
  child.unref();
  return new Promise((resolve) => child.once("spawn", () => resolve(true)).once("error", () => resolve(false)));
}
