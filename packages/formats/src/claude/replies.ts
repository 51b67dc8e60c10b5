import { isObject, type JsonObject, objectAt, stringAt } from "@bough/session-core/wire";
import { promptDigest } from "./ids.js";
import { findResultBlocks } from "./record-kind.js";
import type { RecordTable } from "./record-table.js";
import type { OpenReplyState } from "./saved-transcript.js";
import { type CallFacts, MISSING, type NodeIndex } from "./session-file.js";

/** The number of replies that stay open for further lines, including those of parallel agents. The lines of a reply are close together. */
const OPEN_REPLIES = 256;

interface OpenReply {
  readonly first: NodeIndex;
  readonly requestId: string | undefined;
}

/**
 * Groups the lines of replies: each block of a reply is a separate record with the same `message.id`.
 *
 * The id alone is not enough, because some proxies use one id for all replies. A line belongs to an open reply if its parent is
 * the reply, a result of its calls, noise after either, the parent of its first line, or missing.
 */
export class ReplyGroups {
  readonly #open: Map<string, OpenReply>;
  readonly lines = new Map<NodeIndex, NodeIndex[]>();

  /** `open`: the replies of an earlier reading that may get further lines. */
  constructor(open: readonly OpenReplyState[] = []) {
    this.#open = new Map(open.map(([id, first, requestId]) => [id, { first, requestId }]));
  }

  /** The replies that may get further lines. */
  get open(): readonly OpenReplyState[] {
    return [...this.#open].map(([id, { first, requestId }]) => [id, first, requestId]);
  }

  /** The id of the reply of a line, if no open reply has it. */
  newId(record: JsonObject): string | undefined {
    const id = readMessageId(record);
    return id === undefined || this.#open.has(id) ? undefined : id;
  }

  /** The first line of this line's reply; undefined if this is the first line. */
  find(record: JsonObject, parent: NodeIndex, chain: number, records: RecordTable): NodeIndex | undefined {
    const open = this.#open.get(readMessageId(record) ?? "");
    const first = open === undefined ? undefined : records.get(open.first);
    if (open === undefined || first === undefined || first.chain !== chain) return undefined;
    if (!isSameRequest(open.requestId, stringAt(record, "requestId"))) return undefined;
    const isPartOfReply = parent === MISSING || parent === first.parent || records.get(parent)?.reply === open.first;
    return isPartOfReply ? open.first : undefined;
  }

  /** Adds the first line of a reply. */
  begin(record: JsonObject, node: NodeIndex): void {
    const id = readMessageId(record);
    if (id === undefined) return;
    this.#open.delete(id);
    this.#open.set(id, { first: node, requestId: stringAt(record, "requestId") });
    const [oldest] = this.#open.keys();
    if (this.#open.size > OPEN_REPLIES && oldest !== undefined) this.#open.delete(oldest);
  }

  /** Adds a later line of the reply that starts at `first`. */
  add(first: NodeIndex, node: NodeIndex): void {
    const lines = this.lines.get(first);
    if (lines === undefined) this.lines.set(first, [node]);
    else lines.push(node);
  }
}

function readMessageId(record: JsonObject): string | undefined {
  const id = stringAt(objectAt(record, "message") ?? {}, "id");
  return id === "" ? undefined : id;
}

function isSameRequest(a: string | undefined, b: string | undefined): boolean {
  return a === undefined || b === undefined || a === b;
}

/** The tools that start agents; `Task` is the old name. */
const AGENT_TOOLS = ["Task", "Agent"];

/** Collects the tool calls of a file: their replies, their results, and the agents they started. */
export class CallIndex {
  readonly calls: Map<string, CallFacts>;
  readonly repeatedResults = new Map<NodeIndex, NodeIndex>();
  readonly agentCalls = new Map<string, string>();
  readonly promptCalls = new Map<string, string>();

  /** `calls`: those of an earlier reading. */
  constructor(calls: Iterable<readonly [id: string, facts: CallFacts]> = []) {
    this.calls = new Map(calls);
  }

  /** Adds the calls of a line of `reply`. Returns the ids of those that are new. */
  addCalls(record: JsonObject, reply: NodeIndex): readonly string[] {
    const content = objectAt(record, "message")?.content;
    if (!Array.isArray(content)) return [];
    const added: string[] = [];
    for (const block of content.filter(isObject)) {
      const id = block.type === "tool_use" ? stringAt(block, "id") : undefined;
      if (id === undefined || this.calls.has(id)) continue;
      this.calls.set(id, this.#factsOf(id, block, reply));
      added.push(id);
    }
    return added;
  }

  #factsOf(id: string, block: JsonObject, reply: NodeIndex): CallFacts {
    const name = stringAt(block, "name") ?? "";
    const input = AGENT_TOOLS.includes(name) ? objectAt(block, "input") : undefined;
    const prompt = input === undefined ? undefined : stringAt(input, "prompt");
    const digest = prompt === undefined ? undefined : promptDigest(prompt);
    if (digest !== undefined && !this.promptCalls.has(digest)) this.promptCalls.set(digest, id);
    return { name, reply, description: input === undefined ? undefined : stringAt(input, "description"), answer: undefined };
  }

  /** Adds a record of tool results. Returns the reply of the first call. */
  addResults(record: JsonObject, node: NodeIndex): NodeIndex | undefined {
    const ids = findResultBlocks(objectAt(record, "message")?.content).map((block) => String(block.tool_use_id));
    const [first] = ids;
    const agentId = stringAt(objectAt(record, "toolUseResult") ?? {}, "agentId");
    if (agentId !== undefined && first !== undefined) this.agentCalls.set(agentId, first);
    for (const id of ids) this.#answer(id, node);
    return first === undefined ? undefined : this.calls.get(first)?.reply;
  }

  /** The ids of the calls of results that no reply has. */
  unknownIn(record: JsonObject): readonly string[] {
    const ids = findResultBlocks(objectAt(record, "message")?.content).map((block) => String(block.tool_use_id));
    return ids.filter((id) => !this.calls.has(id));
  }

  #answer(id: string, node: NodeIndex): void {
    const call = this.calls.get(id);
    if (call === undefined) return;
    if (call.answer === undefined) call.answer = node;
    else if (call.answer !== node) this.repeatedResults.set(node, call.answer);
  }

  /** Adds the agent of a call from a progress record; a result overrides it. */
  addProgress(record: JsonObject): void {
    const agentId = stringAt(objectAt(record, "data") ?? {}, "agentId");
    const call = stringAt(record, "parentToolUseID");
    if (agentId !== undefined && call !== undefined && !this.agentCalls.has(agentId)) this.agentCalls.set(agentId, call);
  }
}
