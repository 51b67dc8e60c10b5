import { recallTools } from "@bough/compaction";
import type { Session, SessionContext } from "@bough/session-core";
import type { Permissions } from "./permissions.js";
import { BASH } from "./tools/bash.js";
import { EDIT, READ, WRITE } from "./tools/file-tools.js";
import { isFileTool, type Tool, type ToolName } from "./tools/tool.js";

/** The parts of a request other than its messages. */
export interface RequestFrame {
  /** undefined: that of the session. */
  readonly system: string | undefined;
  readonly tools: readonly Tool[];
}

/** The input of `buildRequestFrame` other than the context. */
export interface FrameOptions {
  readonly session: Session;
  readonly permissions: Permissions;
  readonly cwd: string;
  /** Default: `read`, `write`, `edit` and `bash`. */
  readonly tools?: readonly Tool[] | undefined;
}

/** All tools on files and commands, ordered from read-only to most powerful. */
export const TOOLS: readonly Tool[] = [READ, WRITE, EDIT, BASH];

/**
 * The system prompt and the tools of the request with this context. The requests of a turn and a summary in full mode use the
 * same frame, so that the provider finds the prefix of the summary's request in its cache.
 */
export function buildRequestFrame({ session, permissions, cwd, tools = TOOLS }: FrameOptions, context: SessionContext): RequestFrame {
  const offered = tools.filter(({ name }) => isFileTool(name) && (permissions[name] ?? "off") !== "off");
  const recall = hasSummary(context) && offersRecall(permissions) ? listRecallTools(session) : [];
  const all = [...offered, ...recall];
  return {
    system: buildSystemPrompt(
      context.system,
      cwd,
      all.map(({ name }) => name),
    ),
    tools: all,
  };
}

/**
 * True if the recall tools are offered once there is a summary. By default they are offered with any other tool: they only read the
 * session, but a model without tools may not accept any.
 */
export function offersRecall({ recall, ...others }: Permissions): boolean {
  return recall === undefined ? Object.values(others).some((one) => one !== undefined && one !== "off") : recall === "allow";
}

/** Until then the tools could find only pruned output. The first summary changes the cached prefix anyway. */
function hasSummary({ messages }: SessionContext): boolean {
  return messages.some(({ role }) => role === "compactionSummary" || role === "branchSummary");
}

function listRecallTools(session: Session): readonly Tool[] {
  return recallTools(session).definitions.map(({ name, description, inputSchema, execute }) => ({
    name,
    description,
    inputSchema,
    run: async (input) => ({ text: await execute(input), isError: false }),
  }));
}

/**
 * The system prompt of the session, followed by a description of the tools; undefined without tools. It is not stored,
 * because directory and tools may differ in the next turn.
 */
function buildSystemPrompt(sessionPrompt: string | null, cwd: string, tools: readonly ToolName[]): string | undefined {
  if (tools.length === 0) return undefined;
  const toolInstructions = [
    `You help a user in a terminal. The working directory is ${cwd}.`,
    `You have these tools: ${tools.join(", ")}. Read before you edit, and change only what was asked for.`,
    "The user may deny a call; then ask what they want instead. Answer briefly, in Markdown.",
  ].join("\n");
  return sessionPrompt === null || sessionPrompt.trim() === "" ? toolInstructions : `${sessionPrompt}\n\n${toolInstructions}`;
}
