import type { Entry } from "../entry/entry.js";
import type { AssistantBlock, AssistantMessage, ContentBlock, Message, ToolResultMessage } from "../entry/message.js";

/** The programs that a branch can go on in. */
export type TargetAgent = "pi" | "claude" | "codex";

/** The tools of each program, by name. Tools of MCP servers are not among them: another machine or folder may lack them. */
const TOOLS: Readonly<Record<TargetAgent, ReadonlySet<string>>> = {
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
};

/** The custom type of the message that a result becomes. */
const RESULT_AS_TEXT = "bough.tool-result";

/**
 * The entries of a branch for a program that lacks some of the tools in it: a call of such a tool becomes a text of the reply, and its
 * result a message for the model that follows. So the program never has a call that it cannot run, show or send.
 *
 * Memory: the ids of the calls that became texts.
 */
export async function* callsAsText(entries: AsyncIterable<Entry>, target: TargetAgent): AsyncGenerator<Entry, void, void> {
  const writer = new CallTexts(TOOLS[target]);
  for await (const entry of entries) yield writer.convert(entry);
}

class CallTexts {
  readonly #known: ReadonlySet<string>;
  /** The names of the tools of the calls that became texts, by the id of the call. */
  readonly #names = new Map<string, string>();

  constructor(known: ReadonlySet<string>) {
    this.#known = known;
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
    let isChanged = false;
    const content = message.content.map((block, at): AssistantBlock => {
      if (block.type !== "toolCall") return block;
      if (this.#known.has(block.name)) {
        this.#names.delete(block.id);
        return block;
      }
      isChanged = true;
      this.#names.set(block.id, block.name);
      // On a line of its own: some programs join the texts of a reply.
      return { type: "text", text: `${at === 0 ? "" : "\n"}[Called the tool ${block.name} with ${JSON.stringify(block.arguments)}]` };
    });
    if (!isChanged) return message;
    const isToolUse = message.stopReason === "toolUse" && !content.some(({ type }) => type === "toolCall");
    return { ...message, content, ...(isToolUse ? { stopReason: "stop" } : {}) };
  }

  #convertResult(message: ToolResultMessage): Message {
    const name = this.#names.get(message.toolCallId);
    if (name === undefined) return message;
    const opening = `[${message.isError ? "Error" : "Result"} of the tool ${name}]`;
    const blocks: readonly ContentBlock[] =
      typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
    return { role: "custom", customType: RESULT_AS_TEXT, display: false, content: [{ type: "text", text: opening }, ...blocks] };
  }
}
