import type { AssistantBlock, AssistantMessage, ContentBlock, Entry, Message, ToolResultMessage } from "@bough/session-core";
import { readCommonCall, type ToolAgent, writeCommonCall } from "./common-calls.js";

/** The tools of each program that have a call of their own. Tools of MCP servers are not among them: another machine or folder may lack them. */
const TOOLS: Readonly<Record<ToolAgent, ReadonlySet<string>>> = {
  pi: new Set(["read", "bash", "edit", "write", "grep", "find", "ls"]),
  claude: new Set([
    ...["Agent", "AskUserQuestion", "Bash", "BashOutput", "Edit", "EnterPlanMode", "ExitPlanMode", "Glob", "Grep", "KillShell", "LS"],
    ...["MultiEdit", "NotebookEdit", "NotebookRead", "Read", "Skill", "SlashCommand", "Task", "TaskCreate", "TaskGet", "TaskList"],
    ...["TaskOutput", "TaskStop", "TaskUpdate", "TodoRead", "TodoWrite", "ToolSearch", "WebFetch", "WebSearch", "Write"],
  ]),
  codex: new Set([
    ...["shell", "container.exec", "local_shell", "exec_command", "write_stdin", "shell_command", "apply_patch", "update_plan"],
    ...["view_image", "web_search", "spawn_agent", "send_input", "wait", "close_agent"],
  ]),
  opencode: new Set([
    ...["apply_patch", "bash", "codesearch", "edit", "glob", "grep", "lsp", "plan_exit", "question", "read", "skill", "task"],
    ...["todoread", "todowrite", "webfetch", "websearch", "write"],
  ]),
};

/** The custom type of the message that a result becomes. */
const RESULT_AS_TEXT = "bough.tool-result";

/**
 * The entries of a branch for a program with other tools. A call of a tool that most agents have becomes a call of the program's own, with its
 * names of arguments. Another call becomes a text of the reply, and its result a message for the model that follows, unless the
 * program has a tool of that name. So the program never has a call that it cannot run, show or send, and the model sees calls as calls.
 *
 * Memory: the ids of the calls that were changed.
 */
export async function* callsForAgent(entries: AsyncIterable<Entry>, agent: ToolAgent, cwd: string): AsyncGenerator<Entry, void, void> {
  const calls = new AgentCalls(agent, cwd);
  for await (const entry of entries) yield calls.convert(entry);
}

type Call = Extract<AssistantBlock, { type: "toolCall" }>;

class AgentCalls {
  readonly #agent: ToolAgent;
  readonly #cwd: string;
  /** The tools of the calls that were changed, by the id of the call. */
  readonly #tools = new Map<string, { readonly name: string; readonly isText: boolean }>();

  constructor(agent: ToolAgent, cwd: string) {
    this.#agent = agent;
    this.#cwd = cwd;
  }

  convert(entry: Entry): Entry {
    if (entry.type !== "message") return entry;
    const message = this.#convertMessage(entry.message);
    return message === entry.message ? entry : { ...entry, message };
  }

  #convertMessage(message: Message): Message {
    if (message.role === "assistant") return this.#convertReply(message);
    return message.role === "toolResult" ? this.#convertResult(message) : message;
  }

  #convertReply(message: AssistantMessage): Message {
    const content = message.content.map((block, at) => (block.type === "toolCall" ? this.#convertCall(block, at) : block));
    if (content.every((block, at) => block === message.content[at])) return message;
    const isToolUse = message.stopReason === "toolUse" && !content.some(({ type }) => type === "toolCall");
    return { ...message, content, ...(isToolUse ? { stopReason: "stop" } : {}) };
  }

  #convertCall(call: Call, at: number): AssistantBlock {
    const common = readCommonCall(call);
    const own = common && writeCommonCall(common, this.#agent, this.#cwd);
    if (own !== undefined) {
      this.#tools.set(call.id, { name: own.name, isText: false });
      return { type: "toolCall", id: call.id, name: own.name, arguments: own.arguments };
    }
    if (TOOLS[this.#agent].has(call.name)) {
      this.#tools.delete(call.id);
      return call;
    }
    this.#tools.set(call.id, { name: call.name, isText: true });
    // On a line of its own: some programs join the texts of a reply.
    return { type: "text", text: `${at === 0 ? "" : "\n"}[Called the tool ${call.name} with ${JSON.stringify(call.arguments)}]` };
  }

  #convertResult(message: ToolResultMessage): Message {
    const tool = this.#tools.get(message.toolCallId);
    if (tool === undefined) return message;
    // The details have the form of the other program's tool.
    const { details: _details, ...result } = message;
    if (!tool.isText) return { ...result, toolName: tool.name };
    const opening = `[${message.isError ? "Error" : "Result"} of the tool ${tool.name}]`;
    const blocks: readonly ContentBlock[] =
      typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
    return { role: "custom", customType: RESULT_AS_TEXT, display: false, content: [{ type: "text", text: opening }, ...blocks] };
  }
}
