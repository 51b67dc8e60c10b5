import type { SessionId } from "../../ids/ids.js";
import { SourceFolders } from "../../source/source-folders.js";
import type { ImportProblem, SourceFormat, SourceHeader, SourceRecord, SourceSession } from "../../source/source-session.js";
import { agentFilesOf, agentMetaOf, indexParent, starterOf } from "./agent-files.js";
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
export const claudeFormat: SourceFormat = { name: "claude", detects: isClaude, starterOf, sessions };

function* sessions(path: string, folders = new SourceFolders()): Generator<SourceSession, void, void> {
  const file = indexFile(path, agentOfFile(path));
  const conversation = conversationId(file);
  const agents = agentFilesOf(path, conversation, folders);
  const main = file.chains[0];
  if (main !== undefined && main.records > 0) {
    yield session(file, 0, conversationHeader(file, main, conversation), agents.problems);
    yield* agentsIn(file, { conversation, starter: file, folders, problems: [] });
  } else {
    const starter = indexParent(path, conversation, folders);
    const problems = [...agents.problems, ...starter.problems];
    yield* agentsIn(file, { conversation, starter: starter.value ?? file, folders, problems });
  }
  for (const agentPath of agents.paths) {
    yield* agentsIn(indexFile(agentPath, agentOfFile(agentPath)), { conversation, starter: file, folders, problems: [] });
  }
}

interface Around {
  readonly conversation: SessionId;
  /** The file whose calls started the agents. */
  readonly starter: SessionFile;
  readonly folders: SourceFolders;
  readonly problems: readonly ImportProblem[];
}

function* agentsIn(file: SessionFile, { conversation, starter, folders, problems }: Around): Generator<SourceSession, void, void> {
  const meta = agentMetaOf(file.path, folders);
  const agents = [...file.chains.entries()].filter(([chain]) => chain > 0);
  for (const [at, [chain, facts]] of agents.entries()) {
    yield session(file, chain, agentHeader(facts, conversation, starter, meta.value), at === 0 ? [...problems, ...meta.problems] : []);
  }
}

function session(file: SessionFile, chain: number, header: SourceHeader, problems: readonly ImportProblem[]): SourceSession {
  return {
    header,
    path: file.path,
    *records() {
      yield* problems.map((problem): SourceRecord => ({ kind: "problem", problem }));
      yield* recordsOf(file, chain, header.sessionId);
    },
  };
}
