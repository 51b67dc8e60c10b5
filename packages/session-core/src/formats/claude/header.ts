import type { SessionId } from "../../ids/ids.js";
import type { JsonObject } from "../../source/narrow.js";
import type { SourceHeader, SourceParent } from "../../source/source-session.js";
import { isUsableId } from "./derived-id.js";
import { agentSessionId } from "./identity.js";
import type { CallFacts, ChainFacts, SessionFile } from "./session-file.js";

/** The header of the conversation in a file. */
export function conversationHeader(file: SessionFile, facts: ChainFacts, sessionId: SessionId): SourceHeader {
  const title = file.titles.user ?? file.titles.auto;
  return {
    sessionId,
    kind: "conversation",
    createdAtMs: facts.createdAtMs,
    cwd: facts.cwd,
    ...(title === undefined ? {} : { title }),
    metadata: metadataOf(facts, sessionId),
  };
}

/**
 * The header of an agent's session.
 * @param starter the file whose calls started it: its own, or the one of the conversation.
 */
export function agentHeader(facts: ChainFacts, conversation: SessionId, starter: SessionFile, meta: JsonObject | undefined): SourceHeader {
  const start = startOf(starter, facts);
  const title = start?.call.description;
  return {
    sessionId: agentSessionId(conversation, facts.key),
    kind: "subagent",
    createdAtMs: facts.createdAtMs,
    cwd: facts.cwd,
    ...(title === undefined ? {} : { title }),
    parent: start === undefined ? { sessionId: conversation } : linkTo(starter, conversation, start),
    metadata: { agentId: facts.key, ...metadataOf(facts, conversation), ...(meta === undefined ? {} : { agent: meta }) },
  };
}

interface Start {
  readonly id: string;
  readonly call: CallFacts;
}

// What the result and the progress of a call say of its agent is certain; two calls may have the same prompt.
function startOf(starter: SessionFile, facts: ChainFacts): Start | undefined {
  const id = starter.agentCalls.get(facts.key) ?? starter.promptCalls.get(facts.promptDigest ?? "");
  const call = id === undefined ? undefined : starter.calls.get(id);
  if (id === undefined || call === undefined) return undefined;
  const caller = starter.chains[starter.records[call.reply]?.chain ?? 0];
  return caller?.key === facts.key ? undefined : { id, call };
}

function linkTo(starter: SessionFile, conversation: SessionId, { id, call }: Start): SourceParent {
  const reply = starter.records[call.reply];
  const caller = starter.chains[reply?.chain ?? 0]?.key ?? "";
  const hasOwnId = reply !== undefined && isUsableId(reply.uuid) && !starter.renamed.has(call.reply);
  return {
    sessionId: caller === "" ? conversation : agentSessionId(conversation, caller),
    ...(hasOwnId ? { entryId: reply.uuid } : {}),
    toolCallId: id,
  };
}

function metadataOf(facts: ChainFacts, sessionId: SessionId): JsonObject {
  const { version, gitBranch, recordedSessionId } = facts;
  const given = { version, gitBranch, recordedSessionId: recordedSessionId === sessionId ? undefined : recordedSessionId };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
