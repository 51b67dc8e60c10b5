import { type SessionId, SessionNotFoundError, type SessionRecord, type Store } from "@bough/session-core";
import { chooseChatModel } from "../agent/chat-model.js";
import { hideKey } from "../agent/erase-secrets.js";
import { loadConfig } from "../config/config-file.js";
import { CommandError, UsageError } from "../errors.js";
import { runLineMode } from "../interactive/line-mode.js";
import type { InteractiveRun } from "../interactive/opened-session.js";
import { createSession, type Route, runScreens } from "../interactive/routes.js";
import { findNewestHere } from "../session/choose-session.js";
import { describeAgent, findAgents } from "../session/known-agents.js";
import { resolveSession, shortSessionId } from "../session/names.js";
import { withStore } from "../session/open-store.js";
import { secretsOfStore, withoutStorePassword } from "../session/store-location.js";
import { pagePasswordsIn } from "../terminal/child-environment.js";
import { styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import type { Command, CommonOptions } from "./command.js";

interface ShellOptions extends CommonOptions {
  readonly new?: boolean;
  readonly session?: string;
  readonly resume?: boolean;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly apiKeyEnv?: string;
  readonly window?: number;
}

/** `bough`, `bough shell`: opens the interactive shell. */
export const runShell: Command<ShellOptions> = async ({ io, out, args: [named], options: given }) => {
  if (named !== undefined && given.session !== undefined) throw new UsageError("Name one session, as an argument or with --session.");
  const options: ShellOptions = named === undefined ? given : { ...given, session: named };
  checkOptions(options);
  const { terminal, ask } = io;
  if (terminal === undefined && ask === undefined)
    throw new CommandError(
      "NO_TERMINAL",
      "The shell needs a terminal. Scripts can use bough sessions, bough tree, bough search and others; bough --help lists them.",
    );
  const config = await loadConfig(io);
  const { model, baseUrl, apiKeyEnv, window } = options;
  const chosen = { model, baseUrl, apiKeyEnv, window };
  await withStore(io, options.store, "create", async (store, location) => {
    const model = chooseChatModel(io.env, config, chosen);
    const { PGPASSWORD: password } = io.env;
    const secrets = [...(model?.secrets ?? []), ...secretsOfStore(io.env, location), ...pagePasswordsIn(io.env)];
    const warning = secrets.length === 0 ? null : hideKey(io.env, config.tools?.bash, secrets);
    if (warning !== null) await out.note(warning);
    // It is erased from the memory that other processes can read; commands of the shell open the store again.
    if (location.isServer && password !== undefined) process.env["PGPASSWORD"] = password;
    const shellIo = { ...io, env: withoutStorePassword(io.env, location) };
    const run: InteractiveRun = { io: shellIo, store, location, config, options: chosen, model, isNotebookShown: false };
    await greetFirstUse(run, out);
    const route = await chooseFirstRoute(run, out, options);
    if (terminal !== undefined) return sayHowToGoOn(run, out, await runScreens(run, terminal, route));
    if (route.kind !== "shell") throw new CommandError("NO_TERMINAL", "The list of sessions needs a terminal. `bough sessions` prints it.");
    if (ask !== undefined) await sayHowToGoOn(run, out, await runLineMode(run, out, ask, route.sessionId));
  });
};

/** After the shell has closed: the command that opens the session again, unless it is empty or deleted. */
async function sayHowToGoOn({ store }: InteractiveRun, out: Printer, last: SessionId | null): Promise<void> {
  if (last === null || ((await findRecord(store, last))?.entryCount ?? 0) === 0) return;
  await out.note(styled("dim", `Go on here: ${out.command(`--session ${await shortSessionId(store, last, out)}`)}`));
}

/** The record of a session; undefined: another process deleted it. */
async function findRecord(store: Store, id: SessionId): Promise<SessionRecord | undefined> {
  try {
    return await (await store.openSession(id)).record();
  } catch (error) {
    if (error instanceof SessionNotFoundError) return undefined;
    throw error;
  }
}

function checkOptions({ new: isNew, session, resume }: ShellOptions): void {
  if ([isNew === true, session !== undefined, resume === true].filter(Boolean).length > 1)
    throw new UsageError("--new, --resume and a named session exclude each other. Choose one.");
}

/** In an empty store: which sessions of other agents are on this machine, and how to import them. */
async function greetFirstUse({ store, io }: InteractiveRun, out: Printer): Promise<void> {
  if ((await store.listSessions({ kind: "all", archived: "all", limit: 1 })).items.length > 0) return;
  const agents = await findAgents(io);
  if (agents.length === 0) return;
  await out.note("The store is empty. Sessions of other agents are on this machine:");
  for (const agent of agents) await out.note(`  ${describeAgent(agent, io.home)}`);
  await out.note("To import them: /import here, or `bough import` at your prompt");
}

async function chooseFirstRoute(run: InteractiveRun, out: Printer, { new: isNew, session, resume }: ShellOptions): Promise<Route> {
  const { store, io } = run;
  if (resume === true) return { kind: "picker", sessionId: null, draft: "" };
  if (session !== undefined) return { kind: "shell", sessionId: (await resolveSession(store, io, out, session)).id, draft: "" };
  if (isNew === true) return { kind: "shell", sessionId: await createSession(run, null), draft: "" };
  const newest = await findNewestHere(store, io);
  if (newest !== undefined) return { kind: "shell", sessionId: newest.id, draft: "" };
  // After an import the first start is usually in a directory without sessions: the list shows what there is.
  if (io.terminal !== undefined && (await store.listSessions({ limit: 1 })).items.length > 0)
    return { kind: "picker", sessionId: null, draft: "" };
  const empty = await findNewestHere(store, io, true);
  return { kind: "shell", sessionId: empty?.id ?? (await createSession(run, null)), draft: "" };
}
