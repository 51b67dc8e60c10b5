import type { SessionId } from "../../ids/ids.js";
import type { SourceFormat, SourceHeader, SourceRecord, SourceSession } from "../../source/source-session.js";
import { agentFilesOf, agentMetaOf, indexParent, parentFileOf } from "./agent-files.js";
import { isClaude } from "./detect.js";
import { agentHeader, conversationHeader } from "./header.js";
import { agentOfFile, conversationId } from "./identity.js";
import { indexFile } from "./indexer.js";
import type { SessionFile } from "./session-file.js";
import { recordsOf } from "./session-records.js";

/**
 * Sessions of Claude Code: `<session>.jsonl`, with its agents inline, in `<session>/subagents/` or beside it.
 *
 * The conversation comes first, then its agents. The file of an agent, given alone, is the same session with the same
 * parent as when it is reached through the conversation. A file without any conversation has no sessions.
 */
export const claudeFormat: SourceFormat = { name: "claude", detects: isClaude, sessions };

function* sessions(path: string): Generator<SourceSession, void, void> {
  const file = indexFile(path, agentOfFile(path));
  const conversation = conversationId(file);
  const agents = agentFilesOf(path, conversation);
  const main = file.chains[0];
  const hasMain = main !== undefined && main.records > 0;
  if (hasMain) yield session(file, 0, conversationHeader(file, main, conversation), agents.unreadable);
  yield* agentsIn(file, conversation, hasMain ? file : (starterOf(path, conversation) ?? file));
  for (const agentPath of agents.readable) {
    yield* agentsIn(indexFile(agentPath, agentOfFile(agentPath)), conversation, file);
  }
}

function starterOf(path: string, conversation: SessionId): SessionFile | undefined {
  const parent = parentFileOf(path, conversation);
  return parent === undefined ? undefined : indexParent(parent);
}

function* agentsIn(file: SessionFile, conversation: SessionId, starter: SessionFile): Generator<SourceSession, void, void> {
  const meta = agentMetaOf(file.path);
  for (const [chain, facts] of file.chains.entries()) {
    if (chain > 0) yield session(file, chain, agentHeader(facts, conversation, starter, meta), []);
  }
}

function session(file: SessionFile, chain: number, header: SourceHeader, unreadable: readonly string[]): SourceSession {
  return {
    header,
    *records() {
      yield* unreadable.map(unreadableAgent);
      yield* recordsOf(file, chain, header.sessionId);
    },
  };
}

function unreadableAgent(path: string): SourceRecord {
  return {
    kind: "problem",
    problem: { code: "unreadable-file", path, line: null, message: "an agent's file cannot be opened; its session was left out" },
  };
}
