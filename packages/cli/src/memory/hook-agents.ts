import { join } from "node:path";
import type { Io } from "../terminal/io.js";
import { namedFolder, userFolder } from "../terminal/user-folder.js";

type Place = Pick<Io, "env" | "home">;

/** An agent that runs a command at certain events and gives its output to the model. */
interface CommandHooks {
  readonly kind: "settings";
  /** Its settings: a JSON file with a member `hooks`. */
  readonly file: (io: Place) => string;
  /** The names of the events: the start of a session, and a prompt. */
  readonly events: readonly string[];
  /** The limit of the agent for a run, in its own unit. */
  readonly timeout: number;
}

/** An agent that loads modules. */
interface PluginHooks {
  readonly kind: "plugin";
  /** The file that is written: it belongs to Bough alone. */
  readonly file: (io: Place) => string;
  /** The text of the module. `command`: the program to start and its arguments. */
  readonly text: (command: readonly string[]) => string;
}

/** An agent that can be given memory. */
export type HookAgent = { readonly name: string; readonly title: string; readonly note?: string } & (CommandHooks | PluginHooks);

/** The agents of `bough hook`. */
export const HOOK_AGENTS: readonly HookAgent[] = [
  {
    name: "claude",
    title: "Claude Code",
    kind: "settings",
    file: ({ env, home }) => join(namedFolder(env, "CLAUDE_CONFIG_DIR", join(home, ".claude")), "settings.json"),
    events: ["SessionStart", "UserPromptSubmit"],
    timeout: 5,
  },
  {
    name: "codex",
    title: "Codex",
    note: "Codex runs a new hook only after you have trusted it: type /hooks in Codex.",
    kind: "settings",
    file: ({ env, home }) => join(namedFolder(env, "CODEX_HOME", join(home, ".codex")), "hooks.json"),
    events: ["SessionStart", "UserPromptSubmit"],
    timeout: 5,
  },
  {
    name: "gemini",
    title: "Gemini CLI",
    kind: "settings",
    file: ({ home }) => join(home, ".gemini", "settings.json"),
    events: ["SessionStart", "BeforeAgent"],
    timeout: 5_000,
  },
  {
    name: "opencode",
    title: "opencode",
    kind: "plugin",
    file: (io) => join(userFolder(io, "XDG_CONFIG_HOME"), "opencode", "plugins", "bough.js"),
    text: opencodePlugin,
  },
  {
    name: "pi",
    title: "pi",
    kind: "plugin",
    file: ({ env, home }) => join(namedFolder(env, "PI_CODING_AGENT_DIR", join(home, ".pi", "agent")), "extensions", "bough.ts"),
    text: piExtension,
  },
];

/** The line by which a module is known to be Bough's. */
export const PLUGIN_MARK = "// Written by `bough hook install`. `bough hook uninstall` removes it.";

/** Runs the command with a call as JSON on stdin; resolves with the text for the model, or undefined, within 2.5 s. */
const ASK = `function ask(call) {
  return new Promise((resolve) => {
    const [program, ...args] = COMMAND;
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "ignore"] });
    const timer = setTimeout(() => {
      // It ends only when the disk answers that it waits for, or when its own children close its output.
      child.kill("SIGKILL");
      child.unref();
      child.stdout.destroy();
      resolve(undefined);
    }, 2500);
    let output = "";
    child.stdout.on("data", (piece) => (output += piece));
    child.on("error", () => resolve(undefined));
    child.on("close", () => {
      clearTimeout(timer);
      try {
        resolve(JSON.parse(output).hookSpecificOutput.additionalContext);
      } catch {
        resolve(undefined);
      }
    });
    child.stdin.on("error", () => undefined);
    child.stdin.end(JSON.stringify(call));
  });
}

/** What a start gives, if it is one, and what the prompt gives. */
function askAll(call, isStart) {
  const events = [...(isStart ? [{ hook_event_name: "SessionStart", source: "startup" }] : []), { hook_event_name: "UserPromptSubmit" }];
  return Promise.all(events.map((event) => ask({ ...call, ...event })));
}`;

function moduleHead(command: readonly string[]): string {
  return `${PLUGIN_MARK}\nimport { spawn } from "node:child_process";\n\nconst COMMAND = ${JSON.stringify(command)};\n\n${ASK}\n`;
}

function opencodePlugin(command: readonly string[]): string {
  return `${moduleHead(command)}
export const BoughMemory = async ({ directory }) => {
  const known = new Set();
  return {
    "chat.message": async ({ sessionID }, { message, parts }) => {
      const prompt = parts.flatMap((part) => (part.type === "text" && part.synthetic !== true ? [part.text] : [])).join("\\n");
      const call = { session_id: sessionID, cwd: directory, prompt };
      const texts = await askAll(call, !known.has(sessionID));
      known.add(sessionID);
      for (const [at, text] of texts.entries()) {
        if (text === undefined) continue;
        const id = "prt_" + Date.now().toString(16).padStart(12, "0") + "bough" + at + Math.random().toString(36).slice(2, 10);
        parts.push({ id, sessionID, messageID: message.id, type: "text", text, synthetic: true });
      }
    },
  };
};
`;
}

function piExtension(command: readonly string[]): string {
  return `${moduleHead(command)}
export default function boughMemory(pi) {
  let isStart = true;
  pi.on("session_start", () => {
    isStart = true;
  });
  pi.on("before_agent_start", async (event, context) => {
    const call = { session_id: context.sessionManager?.getSessionId?.(), cwd: context.cwd, prompt: event.prompt };
    const texts = await askAll(call, isStart);
    isStart = false;
    const content = texts.filter((text) => text !== undefined).join("\\n\\n");
    return content === "" ? undefined : { message: { customType: "bough-memory", content, display: false } };
  });
}
`;
}
