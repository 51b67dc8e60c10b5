import { type JsonObject, stringAt } from "@bough/session-core/wire";
import { toContentBlocks } from "./items.js";

/** The form of a text that Codex wrote as a message of the user: a message of the role `custom`, which stays in the context. */
interface InjectedKind {
  readonly customType: string;
  /** True if Codex showed it in the terminal. */
  readonly display: boolean;
}

const CONTEXT: InjectedKind = { customType: "codex.context", display: false };
const SHELL: InjectedKind = { customType: "codex.shell", display: true };
const INTERRUPTED: InjectedKind = { customType: "codex.interrupted", display: true };
const AGENT: InjectedKind = { customType: "codex.agent", display: true };
const DEVELOPER: InjectedKind = { customType: "codex.developer", display: false };

/**
 * Codex writes all messages of the role `user` alike. It wrote a text itself that starts with one of these, or is wrapped in
 * another tag whose name has an underscore or a hyphen, such as `<environment_context>`:
 *
 * | starts with | customType | shown in the terminal |
 * |---|---|---|
 * | `<user_shell_command>` (a `!command` and its output) | a message of the role `bashExecution`; `codex.shell` in an unknown form | yes |
 * | `<turn_aborted>` | `codex.interrupted` | yes |
 * | `<subagent_notification>`, `<subagents>` | `codex.agent` | yes |
 * | `# AGENTS.md instructions`, `<skill>`, old warnings, the summary of a compaction | `codex.context` | no |
 *
 * Everything else is input of the user.
 */
const STARTS: readonly (readonly [start: string, kind: InjectedKind])[] = [
  ["<user_shell_command>", SHELL],
  ["<turn_aborted>", INTERRUPTED],
  ["<subagent_notification>", AGENT],
  ["<subagents>", AGENT],
  ["# agents.md instructions", CONTEXT],
  ["<skill>", CONTEXT],
  ["<instructions>", CONTEXT],
  ["warning: apply_patch was requested via ", CONTEXT],
  ["warning: the maximum number of unified exec processes", CONTEXT],
  ["another language model started to solve this problem and produced a summary", CONTEXT],
  ["you were originally given instructions from a user over one or more turns", CONTEXT],
];

const LONGEST_START = Math.max(...STARTS.map(([start]) => start.length));
const WRAPPED = /^<([a-z]+(?:[_-][a-z]+)+)(?: [^>\n]*)?>/i;

function injectedKind(text: string): InjectedKind | undefined {
  const trimmed = text.trim();
  const start = trimmed.slice(0, LONGEST_START).toLowerCase();
  const known = STARTS.find(([prefix]) => start.startsWith(prefix))?.[1];
  if (known !== undefined) return known;
  const tag = WRAPPED.exec(trimmed)?.[1];
  return tag !== undefined && trimmed.endsWith(`</${tag}>`) ? CONTEXT : undefined;
}

/** A message that is no reply. `isHuman`: a person, or the agent that started this one, wrote it; it starts a turn. */
export interface InputMessage {
  readonly message: JsonObject;
  readonly isHuman: boolean;
}

/** A message of the user, the developer, the system or another agent; undefined: the item has another type or role, or no content. */
export function toInputMessage(item: JsonObject): InputMessage | undefined {
  const content = toContentBlocks(item.content);
  if (content === undefined) return undefined;
  if (item.type === "agent_message") return { message: toAgentMessage(item, content), isHuman: false };
  if (item.type !== "message") return undefined;
  switch (item.role) {
    case "system":
      return { message: { role: "system", content }, isHuman: false };
    case "developer":
      return { message: toCustomMessage(DEVELOPER, content), isHuman: false };
    case "user": {
      const kind = kindOfAll(content);
      if (kind === undefined) return { message: { role: "user", content }, isHuman: true };
      const command = kind === SHELL && content.length === 1 ? toCommandMessage(stringAt(content[0] ?? {}, "text") ?? "") : undefined;
      return { message: command ?? toCustomMessage(kind, content), isHuman: false };
    }
  }
  return undefined;
}

const COMMAND =
  /^\s*<user_shell_command>\n<command>\n([\s\S]*?)\n<\/command>\n<result>\n(?:Exit code: (-?\d+)\n)?(?:Duration: [^\n]*\n)?(?:Output:\n)?([\s\S]*)\n<\/result>\n<\/user_shell_command>\s*$/;

const COMMAND_END = "\n</result>\n</user_shell_command>";

/** A command that the user ran with `!`; undefined: the text has another form. */
function toCommandMessage(text: string): JsonObject | undefined {
  // Without this end, the pattern takes quadratic time.
  const [, command, exitCode, output] = (text.trimEnd().endsWith(COMMAND_END) && COMMAND.exec(text)) || [];
  if (command === undefined || output === undefined) return undefined;
  return { role: "bashExecution", command, output, exitCode: exitCode === undefined ? undefined : Number(exitCode) };
}

/** The kind of a content if Codex wrote all its parts: that of the first one. */
function kindOfAll(content: readonly JsonObject[]): InjectedKind | undefined {
  const kinds = content.map((block) => (block.type === "text" ? injectedKind(stringAt(block, "text") ?? "") : undefined));
  return kinds.includes(undefined) ? undefined : kinds[0];
}

/** Converts a message of another agent to a custom message, with the sender in `details`. */
function toAgentMessage({ author, recipient }: JsonObject, content: readonly JsonObject[]): JsonObject {
  return { ...toCustomMessage(AGENT, content), details: { author: author ?? null, recipient: recipient ?? null } };
}

function toCustomMessage({ customType, display }: InjectedKind, content: readonly JsonObject[]): JsonObject {
  return { role: "custom", customType, display, content };
}
