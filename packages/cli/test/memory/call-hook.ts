import { Readable, Writable } from "node:stream";
// The hook loads it when a config file names its setting. Loading it first in a busy machine must not take the time that the hook gives itself.
import "../../src/config/parse-config.js";
import { run } from "../../src/run.js";
import { quietIo } from "../quiet-io.js";
import { NOON, type World } from "../world.js";

/** A prompt that refers to the session of `remembered` in the tests of the hook. */
export const QUESTION = "Why did we give up the heron cache in the tokenizer?";

/** The call of an agent at a prompt, in the folder of the world. */
export function promptCall(here: World, prompt: string, more: object = {}): object {
  return { session_id: "now", cwd: here.folder, hook_event_name: "UserPromptSubmit", prompt, ...more };
}

interface HookAnswer {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
  /** The text for the model; undefined: none. */
  readonly text: string | undefined;
  /** The exit code with which the hook ended its process; undefined: it returned. */
  readonly endedWith: number | undefined;
}

/** Calls the hook as an agent does, in the folder of the world. `input`: the call, the text on stdin, or a stdin. */
export async function callHook(
  here: World,
  input: object | string,
  { args = ["--debug"], env = {} }: { readonly args?: readonly string[]; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<HookAnswer> {
  const said = { out: "", err: "" };
  let endedWith: number | undefined;
  const sink = (key: "out" | "err") => ({
    isTerminal: false,
    color: false,
    columns: undefined,
    write: async (piece: string) => {
      said[key] += piece;
    },
  });
  const io = quietIo(
    here.folder,
    {},
    {
      stdout: sink("out"),
      stderr: sink("err"),
      env: { BOUGH_STORE: here.store, ...env },
      now: () => NOON,
      pipes: { input: toStdin(input), output: new Writable() },
      endProcess: (exit) => {
        endedWith = exit;
      },
    },
  );
  const exit = await run(["hook", "run", "claude", ...args], io);
  const parsed: { hookSpecificOutput?: { additionalContext?: string } } = said.out === "" ? {} : JSON.parse(said.out);
  return { exit, ...said, text: parsed.hookSpecificOutput?.additionalContext, endedWith };
}

function toStdin(input: object | string): Readable {
  if (input instanceof Readable) return input;
  return Readable.from([typeof input === "string" ? input : JSON.stringify(input)]);
}
