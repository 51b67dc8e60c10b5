import type { SessionId } from "../../ids/ids.js";
import type { SourceFormat, SourceHeader, SourceSession } from "../source/source-session.js";
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
  const main = file.chains[0];
  const hasMain = main !== undefined && main.records > 0;
  if (hasMain) yield session(file, 0, conversation, conversationHeader(file, main, conversation));
  yield* agentsIn(file, conversation, hasMain ? file : starterOf(path, conversation));
  for (const agentPath of agentFilesOf(path, conversation)) {
    yield* agentsIn(indexFile(agentPath, agentOfFile(agentPath)), conversation, file);
  }
}

function starterOf(path: string, conversation: SessionId): SessionFile | undefined {
  const parent = parentFileOf(path, conversation);
  return parent === undefined ? undefined : indexParent(parent);
}

function* agentsIn(file: SessionFile, conversation: SessionId, starter: SessionFile | undefined): Generator<SourceSession, void, void> {
  const meta = agentMetaOf(file.path);
  for (const [chain, facts] of file.chains.entries()) {
    if (chain === 0) continue;
    const header = agentHeader(facts, conversation, starter, meta);
    yield session(file, chain, header.sessionId, header);
  }
}

function session(file: SessionFile, chain: number, sessionId: SessionId, header: SourceHeader): SourceSession {
  return { header, records: () => recordsOf(file, chain, sessionId) };
}
