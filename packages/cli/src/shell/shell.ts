import { createEditor } from "../prompt/editor.js";
import { sessionTitle } from "../session/names.js";
import { DEFAULT_WINDOW } from "../session/window-choice.js";
import { glyphsFor } from "../terminal/glyphs.js";
import { rebindKeys } from "../tui/key-table.js";
import type { Screen, Size } from "../tui/screen.js";
import type { Intro } from "./intro.js";
import { SHELL_KEYS } from "./keys.js";
import type { ShellEffect, ShellEvent, ShellModel, ShellResult, ShellStep } from "./model.js";
import { ShellPerformer } from "./perform.js";
import { update } from "./update.js";
import { view } from "./view.js";
import type { ShellWorld } from "./world.js";

/** The shell of one session, as a screen. */
type ShellScreen = Screen<ShellModel, ShellEffect, ShellEvent, ShellResult>;

/** The initial state of a shell. */
export interface ShellStart {
  /** Text of the prompt. */
  readonly draft?: string | undefined;
  /** Earlier prompts, newest last. */
  readonly history?: readonly string[] | undefined;
  readonly notice?: string | undefined;
  /** Default: the end of the transcript, and the notebook note. */
  readonly intro?: Intro | undefined;
}

/**
 * The shell of a session: an inline screen with prompt and status line below the printed transcript. Messages are stored
 * before the model is asked.
 *
 * @example
 * const result = await runScreen(terminal, shellScreen(world, {}));
 * if (result.kind === "tree") draft = result.draft;
 */
export function shellScreen(world: ShellWorld, start: ShellStart): ShellScreen {
  const intro = start.intro ?? { showsTranscript: true, showsNotebookNote: true };
  return {
    kind: "inline",
    start: (size) => startShell(world, start, size),
    update,
    view,
    performer: (host) => new ShellPerformer(world, intro, host),
    result: ({ result }) => result,
  };
}

/** The initial model; its effect prints the intro. */
function startShell(world: ShellWorld, { draft = "", history = [], notice }: ShellStart, size: Size): ShellStep {
  const { io, config, model, record } = world;
  const status = {
    title: sessionTitle(record),
    depth: record.entryCount,
    branches: 1,
    model: model?.name ?? null,
    usedTokens: null,
    windowTokens: model?.windowTokens ?? DEFAULT_WINDOW,
    cost: null,
    background: false,
    isHeld: false,
  };
  return {
    model: {
      size,
      glyphs: glyphsFor(io.env),
      keys: rebindKeys(SHELL_KEYS, config.keys?.shell ?? {}),
      nowMs: io.now(),
      editor: createEditor(draft),
      history,
      completions: [],
      chosen: 0,
      status,
      reply: null,
      work: null,
      question: null,
      running: 0,
      queue: [],
      pendingResult: null,
      notice: notice === undefined ? null : { text: notice, isError: false },
      lastPress: null,
      result: undefined,
    },
    effects: [{ kind: "open" }],
  };
}
