import { chooseChatModel } from "../agent/chat-model.js";
import { hideKey } from "../agent/erase-secrets.js";
import { loadConfig } from "../config/config-file.js";
import { NoTerminalError, UsageError } from "../errors.js";
import { runLineMode } from "../interactive/line-mode.js";
import type { InteractiveRun } from "../interactive/opened-session.js";
import { createSession, type Route, runScreens } from "../interactive/routes.js";
import { withStore } from "../session/open-store.js";
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

/** `bough`, `bough shell`: the prompt of a session. */
export const runShell: Command<ShellOptions> = async ({ io, out, options }) => {
  checkOptions(options);
  const { terminal, ask } = io;
  if (terminal === undefined && ask === undefined)
    throw new NoTerminalError(
      "The shell needs a terminal to draw on. For scripts: bough sessions, bough tree, bough search; all of them: bough --help.",
    );
  const config = await loadConfig(io);
  const { model, baseUrl, apiKeyEnv, window } = options;
  const chosen = {
    ...(model === undefined ? {} : { model }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(apiKeyEnv === undefined ? {} : { apiKeyEnv }),
    ...(window === undefined ? {} : { window }),
  };
  await withStore(io, options.store, "create", async (store, storePath) => {
    const answering = chooseChatModel(io.env, config, chosen);
    const warning = answering === null ? null : hideKey(io.env, config.tools?.bash, answering.secrets);
    if (warning !== null) await out.note(warning);
    const run: InteractiveRun = { io, store, storePath, config, options: chosen, model: answering, isNotebookShown: false };
    const place = await chooseFirstRoute(run, options);
    if (terminal !== undefined) return runScreens(run, terminal, place);
    if (place.kind !== "shell") throw new NoTerminalError("The list of sessions needs a terminal to draw on. bough sessions prints it.");
    if (ask !== undefined) await runLineMode(run, out, ask, place.sessionId);
  });
};

/** Flags that contradict each other fail, instead of one of them winning silently (regression R176). */
function checkOptions({ new: isNew, session, resume }: ShellOptions): void {
  if ([isNew === true, session !== undefined, resume === true].filter(Boolean).length > 1)
    throw new UsageError("--new, --session and --resume exclude each other. Choose one.");
}

async function chooseFirstRoute(run: InteractiveRun, { new: isNew, session, resume }: ShellOptions): Promise<Route> {
  const { store, io } = run;
  if (resume === true) return { kind: "picker", sessionId: null, draft: "" };
  if (session !== undefined) return { kind: "shell", sessionId: (await store.resolveSession(session)).id, draft: "" };
  if (isNew !== true) {
    // The shell's idea of the directory may lead over a link; sessions are recorded under either.
    for (const cwd of new Set([io.cwd, io.env["PWD"] ?? io.cwd])) {
      const [newest] = (await store.listSessions({ cwd, empty: true, limit: 1 })).items;
      if (newest !== undefined) return { kind: "shell", sessionId: newest.id, draft: "" };
    }
  }
  return { kind: "shell", sessionId: await createSession(run, null), draft: "" };
}
