import { type Session, type SessionId, SessionNotFoundError, textOf } from "@bough/session-core";
import { hideKey } from "../agent/erase-secrets.js";
import { configPath, saveConfig } from "../config/config-file.js";
import { navigatorScreen } from "../navigator/navigator.js";
import { PICKER_KEYS } from "../picker/keys.js";
import { pickerScreen } from "../picker/picker.js";
import { shellScreen } from "../shell/shell.js";
import type { CommandOutput } from "../shell/world.js";
import { glyphsFor } from "../terminal/glyphs.js";
import type { Io, Sink, Terminal } from "../terminal/io.js";
import type { Line } from "../terminal/line.js";
import { rebound } from "../tui/key-table.js";
import { runScreen } from "../tui/run-screen.js";
import { type InteractiveRun, modelNamed, type OpenedSession, withSession } from "./opened-session.js";

/** Where a person is. `draft` is what stands at the prompt; `chosen` a message that came back from the tree. */
export type Place =
  | {
      readonly kind: "shell";
      readonly sessionId: SessionId;
      readonly draft: string;
      readonly chosen?: string | null;
      readonly notice?: string;
      readonly isBack?: boolean;
    }
  | { readonly kind: "tree"; readonly sessionId: SessionId; readonly draft: string }
  | { readonly kind: "picker"; readonly sessionId: SessionId | null; readonly draft: string };

/** Leads from place to place until the person leaves. */
export async function wander(run: InteractiveRun, terminal: Terminal, from: Place): Promise<void> {
  for (let place: Place | null = from; place !== null; place = await visited(run, terminal, place));
}

async function visited(run: InteractiveRun, terminal: Terminal, place: Place): Promise<Place | null> {
  try {
    switch (place.kind) {
      case "shell":
        return await inShell(run, terminal, place);
      case "tree":
        return await inTree(run, terminal, place);
      case "picker":
        return await inPicker(run, terminal, place);
    }
  } catch (error) {
    // Another process deleted it between two screens; what was typed goes along.
    if (!(error instanceof SessionNotFoundError) || place.kind === "picker") throw error;
    return { kind: "picker", sessionId: null, draft: place.draft };
  }
}

async function inShell(run: InteractiveRun, terminal: Terminal, place: Extract<Place, { kind: "shell" }>): Promise<Place | null> {
  const { sessionId } = place;
  return withSession(run, sessionId, async (opened) => {
    const opening = { showsEnd: place.isBack !== true, saysNotebook: !run.saidNotebook };
    run.saidNotebook = true;
    const start = { ...(await shellStart(opened, place)), opening };
    const result = await runScreen(terminal, shellScreen(shellWorld(run, opened), start));
    switch (result.kind) {
      case "quit":
        return null;
      case "tree":
        return { kind: "tree", sessionId, draft: result.draft };
      case "sessions":
        return { kind: "picker", sessionId, draft: result.draft };
      case "open":
        return { kind: "shell", sessionId: result.sessionId, draft: result.draft };
      case "new":
        return { kind: "shell", sessionId: await created(run, result.title), draft: result.draft };
    }
  });
}

/** A message that was chosen in the tree comes to an empty prompt; else it waits in the history, and nothing typed is lost. */
async function shellStart({ session }: OpenedSession, { draft, chosen, notice }: Extract<Place, { kind: "shell" }>) {
  const history = await promptsOf(session);
  if (chosen === undefined || chosen === null) return { draft, history, notice };
  if (draft.trim() === "") return { draft: chosen, history, notice: "Edit the message and send it: that begins a branch here." };
  return {
    draft,
    history: [...history, chosen],
    notice: "The message that was chosen is one Up away; what you were typing is still here.",
  };
}

/** What a shell of this session works with. */
export function shellWorld(run: InteractiveRun, { session, record, compactor, onBackground }: OpenedSession) {
  const { io, store, storePath, config } = run;
  return {
    store,
    session,
    record,
    compactor,
    io,
    config,
    configPath: configPath(io),
    model: run.model,
    onBackground,
    modelNamed: (name: string) => {
      run.model = modelNamed(run, name);
      return run.model;
    },
    hideKey: (secrets: readonly string[]) => hideKey(io.env, config.tools?.bash, secrets),
    runCommand: (args: readonly string[]) => captured(io, storePath, args),
  };
}

async function inTree(run: InteractiveRun, terminal: Terminal, { sessionId, draft }: Extract<Place, { kind: "tree" }>): Promise<Place> {
  return withSession(run, sessionId, async ({ session, record, compactor }) => {
    const { store, io, config } = run;
    const world = { store, session, compactor, io, rememberChoice: (choice: number) => remember(run, choice) };
    const { filter, preview, leaving, rememberedLeaving } = config.navigator ?? {};
    const preferences = { filter, preview, leaving, lastChoice: choiceOf(rememberedLeaving), keys: config.keys?.navigator };
    const before = sizeOf(terminal);
    const result = await runScreen(terminal, navigatorScreen(world, record, preferences));
    switch (result.kind) {
      case "closed":
        return { kind: "shell", sessionId, draft, isBack: sizeOf(terminal) === before };
      case "moved":
        return { kind: "shell", sessionId, draft, chosen: result.text };
      case "forked":
        return { kind: "shell", sessionId: result.sessionId, draft, notice: "This is the fork; the session it came from is as it was." };
      case "gone":
        return { kind: "picker", sessionId: null, draft };
    }
  });
}

/** Where it changed meanwhile, what the shell had printed is gone from the screen, and its end is printed again. */
function sizeOf({ stdout }: Terminal): string {
  return `${stdout.columns}x${stdout.rows}`;
}

const CHOICES = ["no-summary", "summary", "focus"] as const;

function choiceOf(remembered: (typeof CHOICES)[number] | undefined): number {
  return Math.max(CHOICES.indexOf(remembered ?? "no-summary"), 0);
}

async function remember({ io, config }: InteractiveRun, choice: number): Promise<void> {
  const rememberedLeaving = CHOICES[choice];
  if (rememberedLeaving !== config.navigator?.rememberedLeaving) await saveConfig(io, { navigator: { rememberedLeaving } });
}

async function inPicker(
  run: InteractiveRun,
  terminal: Terminal,
  { sessionId, draft }: Extract<Place, { kind: "picker" }>,
): Promise<Place | null> {
  const { store, io, config } = run;
  const keys = rebound(PICKER_KEYS, config.keys?.picker ?? {});
  const current = sessionId === null ? {} : { currentSessionId: sessionId };
  const before = sizeOf(terminal);
  const result = await runScreen(terminal, pickerScreen({ store, io, glyphs: glyphsFor(io.env), keys, ...current }));
  switch (result.kind) {
    case "open":
      return { kind: "shell", sessionId: result.sessionId, draft };
    case "new":
      return { kind: "shell", sessionId: await created(run, null), draft };
    case "cancelled":
      return sessionId === null ? null : { kind: "shell", sessionId, draft, isBack: sizeOf(terminal) === before };
  }
}

/** A new session of this directory. It is there at once, so that it is what the next start goes on with. */
export async function created({ store, io }: InteractiveRun, title: string | null): Promise<SessionId> {
  return (await store.createSession({ cwd: io.cwd, ...(title === null ? {} : { title }) })).id;
}

/** Runs `bough ARGS…` on a store and gives back what it printed, as lines: nothing of it reaches the terminal by itself. */
export async function captured(io: Io, storePath: string, args: readonly string[]): Promise<CommandOutput> {
  const [out, err]: [string[], string[]] = [[], []];
  const sink = (text: string[]): Sink => ({
    isTerminal: false,
    colour: false,
    columns: io.stdout.columns,
    write: async (piece) => {
      text.push(piece);
    },
  });
  const silent: Io = { ...io, stdout: sink(out), stderr: sink(err), terminal: undefined, ask: undefined, progressStream: undefined };
  const exit = await io.bough(["--store", storePath, ...args], silent);
  return { lines: linesOf(out.join("")), notes: linesOf(err.join("")), exit };
}

function linesOf(text: string): readonly Line[] {
  return text === ""
    ? []
    : text
        .replace(/\n$/, "")
        .split("\n")
        .map((line): Line => [line]);
}

const MOST = 100;

/** What the person said on the path of the leaf, oldest first: for the arrows of the prompt. */
export async function promptsOf(session: Session): Promise<readonly string[]> {
  const { items } = await session.scan({ order: "up", types: ["message"], roles: ["user"], limit: MOST });
  const texts = items.flatMap((entry) =>
    entry.type === "message" && entry.message.role === "user" ? [textOf(entry.message.content)] : [],
  );
  return texts.filter((text) => text.trim() !== "").reverse();
}
