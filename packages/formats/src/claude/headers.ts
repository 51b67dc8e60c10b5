import type { SessionId } from "@bough/session-core";
import type { SourceHeader, SourceParent } from "@bough/session-core/engine";
import { isId, type JsonObject, withoutUndefined } from "@bough/session-core/wire";
import { agentSessionId } from "../source/derived-id.js";
import { isUsableId } from "./ids.js";
import type { AgentLink } from "./saved-transcript.js";
import type { CallFacts, ChainFacts, SessionFile } from "./session-file.js";

/** The header of the file's conversation. */
export function toConversationHeader(file: Pick<SessionFile, "titles">, facts: ChainFacts, sessionId: SessionId): SourceHeader {
  const title = file.titles.user ?? file.titles.auto;
  return {
    sessionId,
    kind: "conversation",
    createdAtMs: facts.createdAtMs,
    cwd: facts.cwd,
    title,
    parent: facts.forkedFrom !== undefined && isId(facts.forkedFrom) ? { sessionId: facts.forkedFrom } : undefined,
    metadata: toMetadata(facts, sessionId),
  };
}

/**
 * The header of an agent's session.
 * @param starter the file whose calls started it: its own, or the one of the conversation.
 */
export function toAgentHeader(
  facts: ChainFacts,
  conversation: SessionId,
  starter: SessionFile,
  meta: JsonObject | undefined,
): SourceHeader {
  return linkedHeader(facts, conversation, findLink(facts, conversation, starter), meta);
}

/** The header of an agent's session whose call is known. */
export function linkedHeader(facts: ChainFacts, conversation: SessionId, link: AgentLink, meta: JsonObject | undefined): SourceHeader {
  return {
    sessionId: agentSessionId(conversation, facts.key),
    kind: "subagent",
    createdAtMs: facts.createdAtMs,
    cwd: facts.cwd,
    ...link,
    metadata: { agentId: facts.key, ...toMetadata(facts, conversation), ...(meta === undefined ? {} : { agent: meta }) },
  };
}

function findLink(facts: ChainFacts, conversation: SessionId, starter: SessionFile): AgentLink {
  const start = findStartingCall(starter, facts);
  const title = start?.call.description;
  const parent = start === undefined ? { sessionId: conversation } : toParent(starter, conversation, start);
  return { ...(title === undefined ? {} : { title }), parent };
}

interface StartingCall {
  readonly id: string;
  readonly call: CallFacts;
}

// The agent ids in results and progress records are unique; two calls may have the same prompt.
function findStartingCall(starter: SessionFile, facts: ChainFacts): StartingCall | undefined {
  const id = starter.agentCalls.get(facts.key) ?? starter.promptCalls.get(facts.promptDigest ?? "");
  const call = id === undefined ? undefined : starter.calls.get(id);
  if (id === undefined || call === undefined) return undefined;
  const caller = starter.chains[starter.records.get(call.reply)?.chain ?? 0];
  return caller?.key === facts.key ? undefined : { id, call };
}

function toParent(starter: SessionFile, conversation: SessionId, { id, call }: StartingCall): SourceParent {
  const reply = starter.records.get(call.reply);
  const caller = starter.chains[reply?.chain ?? 0]?.key ?? "";
  const hasOwnId = reply !== undefined && isUsableId(reply.uuid) && !starter.renamed.has(call.reply);
  return {
    sessionId: caller === "" ? conversation : agentSessionId(conversation, caller),
    ...(hasOwnId ? { entryId: reply.uuid } : {}),
    toolCallId: id,
  };
}

function toMetadata(facts: ChainFacts, sessionId: SessionId): JsonObject {
  const { version, gitBranch, recordedSessionId } = facts;
  const fields = { version, gitBranch, recordedSessionId: recordedSessionId === sessionId ? undefined : recordedSessionId };
  return withoutUndefined(fields);
}
