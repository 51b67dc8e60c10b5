import { type Session, type SessionId, SessionNotFoundError, textOf } from "@bough/session-core";
import { hideKey } from "../agent/erase-secrets.js";
import { saveConfig } from "../config/config-file.js";
import { resolveConfigPath } from "../config/config-path.js";
import type { NavigatorOpening } from "../navigator/navigator.js";
import { runNavigator, type WithVisited } from "../navigator/visits.js";
import { PICKER_KEYS } from "../picker/keys.js";
import { pickerScreen } from "../picker/picker.js";
import { findNewestHere } from "../session/choose-session.js";
import { shellScreen } from "../shell/shell.js";
import type { CommandOutput } from "../shell/world.js";
import { glyphsFor } from "../terminal/glyphs.js";
import type { Io, Sink, Terminal } from "../terminal/io.js";
import type { Line } from "../terminal/line.js";
import { rebindKeys } from "../tui/key-table.js";
import { runScreen } from "../tui/run-screen.js";
import { chooseNamedModel, type InteractiveRun, type OpenedSession, withSession } from "./opened-session.js";

/** A screen to show. `draft` is the text at the prompt; `chosen` is a message that was chosen in the tree, to be resent. */
export type Route =
  | {
      readonly kind: "shell";
      readonly sessionId: SessionId;
      readonly draft: string;
      readonly chosen?: string | null;
      readonly notice?: string;
      readonly isBack?: boolean;
    }
  | { readonly kind: "tree"; readonly sessionId: SessionId; readonly draft: string; readonly at?: NavigatorOpening }
  | { readonly kind: "picker"; readonly sessionId: SessionId | null; readonly draft: string };

/** Shows screens until the user quits. Returns the last session; null: none was open. */
export async function runScreens(run: InteractiveRun, terminal: Terminal, first: Route): Promise<SessionId | null> {
  let last: SessionId | null = null;
  for (let route: Route | null = first; route !== null; route = await showScreen(run, terminal, route)) last = route.sessionId;
  return last;
}

async function showScreen(run: InteractiveRun, terminal: Terminal, route: Route): Promise<Route | null> {
  try {
    switch (route.kind) {
      case "shell":
        return await showShell(run, terminal, route);
      case "tree":
        return await showTree(run, terminal, route);
      case "picker":
        return await showPicker(run, terminal, route);
    }
  } catch (error) {
    // Another process deleted the session. The draft is kept.
    if (!(error instanceof SessionNotFoundError) || route.kind === "picker") throw error;
    return { kind: "picker", sessionId: null, draft: route.draft };
  }
}

async function showShell(run: InteractiveRun, terminal: Terminal, route: Extract<Route, { kind: "shell" }>): Promise<Route | null> {
  const { sessionId } = route;
  return withSession(run, sessionId, async (opened) => {
    const intro = { showsTranscript: route.isBack !== true, showsNotebookNote: !run.isNotebookShown };
    run.isNotebookShown = true;
    const start = { ...(await buildShellStart(opened, route)), intro };
    const result = await runScreen(terminal, shellScreen(createShellWorld(run, opened), start));
    switch (result.kind) {
      case "quit":
        return null;
      case "tree":
        return { kind: "tree", sessionId, draft: result.draft };
      case "sessions":
        return { kind: "picker", sessionId, draft: result.draft };
      case "open":
        return { kind: "shell", sessionId: result.sessionId, draft: result.draft, notice: result.notice };
      case "new":
        return { kind: "shell", sessionId: await createSession(run, result.title), draft: result.draft };
    }
  });
}

/** Puts the message that was chosen in the tree at the prompt if the prompt is empty, else into the history. */
async function buildShellStart({ session }: OpenedSession, { draft, chosen, notice }: Extract<Route, { kind: "shell" }>) {
  const history = await readPrompts(session);
  if (chosen === undefined || chosen === null) return { draft, history, notice };
  if (draft.trim() === "") return { draft: chosen, history, notice: "Edit the message and send it: it starts a branch here." };
  return {
    draft,
    history: [...history, chosen],
    notice: "The prompt keeps your draft. Press Up for the chosen message.",
  };
}

/** The dependencies of the shell screen. */
export function createShellWorld(run: InteractiveRun, { session, record, compactor, onBackground }: OpenedSession) {
  const { io, store, location, config } = run;
  return {
    store,
    session,
    record,
    compactor,
    io,
    config,
    configPath: resolveConfigPath(io),
    model: run.model,
    onBackground,
    selectModel: (name: string) => {
      run.model = chooseNamedModel(run, name);
      return run.model;
    },
    hideKey: (secrets: readonly string[]) => hideKey(io.env, config.tools?.bash, secrets),
    runCommand: (args: readonly string[]) => runCaptured(io, location.address, args),
  };
}

async function showTree(
  run: InteractiveRun,
  terminal: Terminal,
  { sessionId, draft, at: opening }: Extract<Route, { kind: "tree" }>,
): Promise<Route> {
  const { navigator, keys, mouse } = run.config;
  const preferences = { ...navigator, lastChoice: choiceIndex(navigator?.rememberedLeaving), keys: keys?.navigator, mouse };
  const before = describeSize(terminal);
  const { store, io } = run;
  const rememberChoice = (choice: number) => saveLeavingChoice(run, choice);
  const withVisited: WithVisited = (id, work) =>
    withSession(run, id, ({ session, record, compactor }) =>
      work({ store, session, compactor: async () => compactor, io, rememberChoice }, record),
    );
  const ended = await runNavigator(terminal, withVisited, { sessionId, opening }, preferences);
  const { result } = ended;
  switch (result.kind) {
    case "closed":
      return { kind: "shell", sessionId, draft, isBack: opening === undefined && isStillThere(terminal, before) };
    case "moved":
      return { kind: "shell", sessionId: ended.sessionId, draft, chosen: result.text };
    case "forked":
      return { kind: "shell", sessionId: result.sessionId, draft, notice: "This is the fork. The original session is unchanged." };
    case "deleted":
      return { kind: "picker", sessionId: null, draft };
  }
}

function describeSize({ stdout }: Terminal): string {
  return `${stdout.columns}x${stdout.rows}`;
}

/**
 * True if the output of the shell is on the terminal as it was. A terminal of another size restores it in the old one: its lines move to the
 * scrollback (erasing would lose them), and the shell prints the end of the session again.
 */
function isStillThere(terminal: Terminal, before: string): boolean {
  if (describeSize(terminal) === before) return true;
  const { rows } = terminal.stdout;
  terminal.stdout.write(`\u001b[${rows};1H${"\n".repeat(rows)}\u001b[H`);
  return false;
}

const CHOICES = ["no-summary", "summary", "focus"] as const;

function choiceIndex(remembered: (typeof CHOICES)[number] | undefined): number {
  return Math.max(CHOICES.indexOf(remembered ?? "no-summary"), 0);
}

async function saveLeavingChoice({ io, config }: InteractiveRun, choice: number): Promise<void> {
  const rememberedLeaving = CHOICES[choice];
  if (rememberedLeaving !== config.navigator?.rememberedLeaving) await saveConfig(io, { navigator: { rememberedLeaving } });
}

async function showPicker(
  run: InteractiveRun,
  terminal: Terminal,
  { sessionId, draft }: Extract<Route, { kind: "picker" }>,
): Promise<Route | null> {
  const { store, io, config } = run;
  const keys = rebindKeys(PICKER_KEYS, config.keys?.picker ?? {});
  const current = sessionId === null ? {} : { currentSessionId: sessionId };
  const everywhere = (await findNewestHere(store, io)) === undefined;
  const before = describeSize(terminal);
  const result = await runScreen(
    terminal,
    pickerScreen({ store, io, glyphs: glyphsFor(io.env), keys, mouse: config.mouse, everywhere, ...current }),
  );
  switch (result.kind) {
    case "open":
      if (result.hit !== undefined) return { kind: "tree", sessionId: result.sessionId, draft, at: result.hit };
      return { kind: "shell", sessionId: result.sessionId, draft };
    case "new":
      return { kind: "shell", sessionId: await createSession(run, null), draft };
    case "cancelled":
      return sessionId === null ? null : { kind: "shell", sessionId, draft, isBack: isStillThere(terminal, before) };
  }
}

/** Creates a session of this directory. It is stored at once, so that the next start opens it. */
export async function createSession({ store, io }: InteractiveRun, title: string | null): Promise<SessionId> {
  return (await store.createSession({ cwd: io.cwd, ...(title === null ? {} : { title }) })).id;
}

/** Runs `bough ARGS…` on a store and returns its output as lines. */
export async function runCaptured(io: Io, address: string, args: readonly string[]): Promise<CommandOutput> {
  const [out, err]: [string[], string[]] = [[], []];
  const sink = (text: string[]): Sink => ({
    isTerminal: false,
    color: false,
    columns: io.stdout.columns,
    write: async (piece) => {
      text.push(piece);
    },
  });
  const silent: Io = {
    ...io,
    stdout: sink(out),
    stderr: sink(err),
    terminal: undefined,
    pagerTerminal: undefined,
    ask: undefined,
    progressStream: undefined,
  };
  const exit = await io.bough(["--store", address, ...args], silent);
  return { lines: splitLines(out.join("")), notes: splitLines(err.join("")), exit };
}

function splitLines(text: string): readonly Line[] {
  return text === ""
    ? []
    : text
        .replace(/\n$/, "")
        .split("\n")
        .map((line): Line => [line]);
}

const MAX_PROMPTS = 100;

/** The messages of the user on the path of the leaf, oldest first; the history of the prompt. */
async function readPrompts(session: Session): Promise<readonly string[]> {
  const { items } = await session.scan({ order: "up", types: ["message"], roles: ["user"], limit: MAX_PROMPTS });
  const texts = items.flatMap((entry) =>
    entry.type === "message" && entry.message.role === "user" ? [textOf(entry.message.content)] : [],
  );
  return texts.filter((text) => text.trim() !== "").reverse();
}
