// The table of the agents whose sessions are read: `@bough/formats/agents`. Lists of agents in help, completion, hints and docs are made from
// it. It imports no reader, so that a command that only prints a list loads none.

export { applicationFolder, type SourceEnvironment } from "./source/agent-folders.js";

/** An agent whose sessions are read. */
export interface KnownAgent {
  /** Its name for people, such as `Codex`. */
  readonly name: string;
  /** The format of its sessions, as `SessionRecord.source` names it. */
  readonly format: string;
  /** The agent whose format it writes, if it writes that of another one under a name and in a folder of its own. */
  readonly writesLike?: string;
}

/** The agents whose sessions are read, those that write a format of their own first. */
export const KNOWN_AGENTS: readonly KnownAgent[] = [
  { name: "Claude Code", format: "claude" },
  { name: "Codex", format: "codex" },
  { name: "pi", format: "pi" },
  { name: "oh-my-pi", format: "pi" },
  { name: "Copilot CLI", format: "copilot" },
  { name: "VS Code Copilot Chat", format: "vscode-chat" },
  { name: "Cursor", format: "cursor" },
  { name: "Gemini CLI", format: "gemini" },
  { name: "opencode", format: "opencode" },
  { name: "co-cli", format: "co-cli" },
  { name: "Qwen Code", format: "qwen" },
  { name: "Kimi Code", format: "kimi" },
  { name: "Droid", format: "droid" },
  { name: "Antigravity CLI", format: "antigravity" },
  { name: "Hermes", format: "hermes" },
  { name: "Grok Build", format: "grok" },
  { name: "Claude Cowork", format: "claude-cowork", writesLike: "Claude Code" },
  { name: "OpenClaude", format: "openclaude", writesLike: "Claude Code" },
  { name: "Kilo", format: "kilo", writesLike: "opencode" },
  { name: "OpenClaw", format: "openclaw", writesLike: "pi" },
  { name: "Prime Agent", format: "prime-agent", writesLike: "pi" },
  { name: "Tau", format: "tau", writesLike: "pi" },
];

/** The values of a filter by agent: the formats of all agents, and `bough` for sessions that were not imported. */
export const AGENT_FILTERS: readonly string[] = [...new Set(KNOWN_AGENTS.map(({ format }) => format)), "bough"];

/** The sources of an import as a part of a sentence. */
export const SUPPORTED_SOURCES = `sessions of ${KNOWN_AGENTS.map(({ name }) => name).join(", ")} and Bough, and arrays of messages`;
