import type { Readable } from "node:stream";
import { isObject } from "@bough/session-core/wire";

/** A call of a hook, as an agent describes it on stdin. */
export interface HookCall {
  /** The agent's name of the event, for the answer. */
  readonly eventName: string;
  /** `start`: a session begins. `prompt`: the person sent a message. */
  readonly kind: "start" | "prompt";
  /** The message; "" at a start. */
  readonly prompt: string;
  /** The directory of the session; undefined: not given. */
  readonly cwd: string | undefined;
  /** The session of the agent, and its file; undefined: not given. */
  readonly sessionId: string | undefined;
  readonly transcript: string | undefined;
}

/** The most that is read of stdin, in bytes: a prompt may be a pasted file. */
const MAX_BYTES = 4_000_000;

/** Events that begin a session, and events that carry a prompt, under the names of Claude Code and Codex, and of Gemini CLI. */
const STARTS = ["SessionStart"];
const PROMPTS = ["UserPromptSubmit", "BeforeAgent"];
/** A session that goes on has its earlier part in its context. */
const NEW_SESSION = ["startup", "clear", undefined];

/** Reads the call from stdin to its end; a string: why it is none that is answered. */
export async function readHookCall(input: Readable): Promise<HookCall | string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of input) {
    const chunk = Buffer.from(piece);
    bytes += chunk.length;
    if (bytes > MAX_BYTES) return `stdin has more than ${MAX_BYTES / 1_000_000} MB`;
    pieces.push(chunk);
  }
  return parseHookCall(Buffer.concat(pieces).toString("utf8"));
}

function parseHookCall(text: string): HookCall | string {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return "stdin is no JSON";
  }
  if (!isObject(given)) return "stdin is no JSON object";
  const value = given;
  const textOf = (name: string): string | undefined => {
    const found = value[name];
    return typeof found === "string" && found !== "" ? found : undefined;
  };
  const eventName = textOf("hook_event_name");
  const place = { cwd: textOf("cwd"), sessionId: textOf("session_id"), transcript: textOf("transcript_path") };
  if (eventName === undefined) return "stdin names no hook_event_name";
  if (STARTS.includes(eventName))
    return NEW_SESSION.includes(textOf("source")) ? { eventName, kind: "start", prompt: "", ...place } : "the session goes on";
  if (!PROMPTS.includes(eventName)) return `the event ${eventName} is not answered`;
  const prompt = textOf("prompt");
  return prompt === undefined ? "the prompt is empty" : { eventName, kind: "prompt", prompt, ...place };
}
