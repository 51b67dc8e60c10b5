import { isObject, type JsonObject, objectAt, stringAt } from "../../source/narrow.js";
import { promptDigest } from "./derived-id.js";
import { resultBlocks } from "./record-kind.js";
import type { CallFacts, NodeIndex } from "./session-file.js";

/** The tools that start agents; `Task` was renamed. */
const AGENT_TOOLS = ["Task", "Agent"];

/** The tool calls of a file while it is read: who made them, who answered them, and which agents they started. */
export class CallBook {
  readonly calls = new Map<string, CallFacts>();
  readonly repeatedAnswers = new Map<NodeIndex, NodeIndex>();
  readonly agentCalls = new Map<string, string>();
  readonly promptCalls = new Map<string, string>();

  /** Notes the calls on one line of `reply`. */
  made(record: JsonObject, reply: NodeIndex): void {
    const content = objectAt(record, "message")?.content;
    if (!Array.isArray(content)) return;
    for (const block of content.filter(isObject)) {
      const id = block.type === "tool_use" ? stringAt(block, "id") : undefined;
      if (id !== undefined && !this.calls.has(id)) this.calls.set(id, this.#factsOf(id, block, reply));
    }
  }

  #factsOf(id: string, block: JsonObject, reply: NodeIndex): CallFacts {
    const name = stringAt(block, "name") ?? "";
    const input = AGENT_TOOLS.includes(name) ? objectAt(block, "input") : undefined;
    const prompt = input === undefined ? undefined : stringAt(input, "prompt");
    const digest = prompt === undefined ? undefined : promptDigest(prompt);
    if (digest !== undefined && !this.promptCalls.has(digest)) this.promptCalls.set(digest, id);
    return { name, reply, description: input === undefined ? undefined : stringAt(input, "description"), answer: undefined };
  }

  /** Notes a record of tool results; returns the reply whose call it answers. */
  answered(record: JsonObject, node: NodeIndex): NodeIndex | undefined {
    const ids = resultBlocks(objectAt(record, "message")?.content).map((block) => String(block.tool_use_id));
    const [first] = ids;
    const agentId = stringAt(objectAt(record, "toolUseResult") ?? {}, "agentId");
    if (agentId !== undefined && first !== undefined) this.agentCalls.set(agentId, first);
    for (const id of ids) this.#answer(id, node);
    return first === undefined ? undefined : this.calls.get(first)?.reply;
  }

  #answer(id: string, node: NodeIndex): void {
    const call = this.calls.get(id);
    if (call === undefined) return;
    if (call.answer === undefined) call.answer = node;
    else if (call.answer !== node) this.repeatedAnswers.set(node, call.answer);
  }

  /** Notes what a progress record says of the agent that a call started; a result says it with more authority. */
  progressed(record: JsonObject): void {
    const agentId = stringAt(objectAt(record, "data") ?? {}, "agentId");
    const call = stringAt(record, "parentToolUseID");
    if (agentId !== undefined && call !== undefined && !this.agentCalls.has(agentId)) this.agentCalls.set(agentId, call);
  }
}
