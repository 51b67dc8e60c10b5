import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { ImportProblem, SessionId } from "@bough/session-core";
import {
  ReadFromStartError,
  type ReadingPosition,
  type SourceHeader,
  type SourceRecord,
  type SourceSession,
} from "@bough/session-core/engine";
import { isObject, type JsonObject } from "@bough/session-core/wire";
import { applicationFolder, foldersBelow } from "../source/agent-folders.js";
import { renamedFormat } from "../source/renamed-format.js";
import { SourceFolders } from "../source/source-folders.js";
import type { FileHead, SourceFormat } from "../source/source-format.js";
import { findAgentFiles, indexParent, readAgentMeta, starterOf } from "./agent-files.js";
import { Titles } from "./chains.js";
import { linkedHeader, toAgentHeader, toConversationHeader } from "./headers.js";
import { agentIdOfFile, conversationId, projectFolder } from "./ids.js";
import { type IndexedFile, indexFile, indexRest } from "./index-file.js";
import { readRecords } from "./records.js";
import { linkIn, type SavedTranscript, savedIn, withLink } from "./saved-transcript.js";
import type { ChainFacts, SessionFile } from "./session-file.js";

/**
 * Sessions of Claude Code: `<session>.jsonl`, with its agents inline, in `<session>/subagents/` or next to it.
 *
 * The conversation comes first, then its agents. The file of an agent alone gives the same session with the same parent as
 * through the conversation. A file without a conversation has no sessions.
 */
export const claudeFormat: SourceFormat = {
  name: "claude",
  agents: [
    {
      name: "Claude Code",
      folders: (given) => foldersBelow(given, "CLAUDE_CONFIG_DIR", ["projects"], ".claude", ".config/claude"),
      files: /\.jsonl$/,
      resume: {
        program: "claude",
        args: (sessionId) => ["--resume", sessionId],
        newSession: (folder, { cwd }) => {
          const sessionId = randomUUID();
          return { sessionId, file: join(folder, projectFolder(cwd), `${sessionId}.jsonl`) };
        },
      },
    },
  ],
  detects: isClaude,
  starterOf,
  sessions,
};

/** Sessions of Claude Cowork: each has a Claude Code with a configuration folder of its own. */
export const coworkFormat = renamedFormat(claudeFormat, {
  name: "claude-cowork",
  path: /(?:^|\/)local-agent-mode-sessions\/.+\.jsonl$/,
  agent: {
    name: "Claude Cowork",
    folders: (environment) => [join(applicationFolder(environment), "Claude", "local-agent-mode-sessions")],
    files: /(?:^|\/)\.claude\/projects\/.+\.jsonl$/,
    // Files that a user gave to a session, and its results.
    skipped: /(?:^|\/)(?:uploads|outputs|skills-plugin|node_modules)$/,
  },
});

/** Sessions of OpenClaude. */
export const openClaudeFormat = renamedFormat(claudeFormat, {
  name: "openclaude",
  path: /(?:^|\/)\.openclaude\/projects\//,
  agent: { name: "OpenClaude", folders: ({ home }) => [join(home, ".openclaude", "projects")], files: /\.jsonl$/ },
});

function* sessions(
  path: string,
  folders = new SourceFolders(),
  reads: (path: string) => boolean = () => true,
  earlier: (path: string) => ReadingPosition | undefined = () => undefined,
): Generator<SourceSession, void, void> {
  const file = new Transcript(path, earlier(path));
  const conversation = conversationId(file);
  const agents = findAgentFiles(path, conversation, folders);
  const main = file.chains[0];
  if (main !== undefined && main.records > 0) {
    yield toSession(file, 0, toConversationHeader(file, main, conversation), () => [...agents.problems, ...chainProblems(file)]);
    if (file.isWhole) yield* readAgents(file, { conversation, starter: () => file.whole, folders, problems: [] });
  } else {
    const starter = file.isWhole ? indexParent(path, conversation, folders) : { value: undefined, problems: [] };
    const problems = [...agents.problems, ...starter.problems, ...chainProblems(file)];
    yield* readAgents(file, { conversation, starter: () => starter.value ?? file.whole, folders, problems });
  }
  for (const agentPath of agents.paths.filter(reads)) {
    const agentFile = new Transcript(agentPath, earlier(agentPath));
    yield* readAgents(agentFile, { conversation, starter: () => file.whole, folders, problems: chainProblems(agentFile) });
  }
}

function chainProblems(file: Transcript): readonly ImportProblem[] {
  const message = "the file has replies without a parent; each record without one was attached to the one before it";
  return file.isWhole && file.whole.isChain ? [{ code: "missing-parent", path: file.path, line: null, message }] : [];
}

interface AgentSource {
  readonly conversation: SessionId;
  /** Reads the file whose calls started the agents. */
  readonly starter: () => SessionFile;
  readonly folders: SourceFolders;
  readonly problems: readonly ImportProblem[];
}

function* readAgents(file: Transcript, { conversation, starter, folders, problems }: AgentSource): Generator<SourceSession, void, void> {
  const meta = readAgentMeta(file.path, folders);
  const agents = [...file.chains.entries()].filter(([chain]) => chain > 0);
  const link = linkIn(file.earlier);
  for (const [at, [chain, facts]] of agents.entries()) {
    const header =
      link === undefined ? toAgentHeader(facts, conversation, starter(), meta.value) : linkedHeader(facts, conversation, link, meta.value);
    yield toSession(file, chain, header, () => (at === 0 ? [...problems, ...meta.problems] : []));
  }
}

function toSession(file: Transcript, chain: number, header: SourceHeader, problems: () => readonly ImportProblem[]): SourceSession {
  let ended: () => ReadingPosition | undefined = () => undefined;
  const position = () => {
    if (header.kind === "conversation") return ended();
    // The file of the starter is read again until it has the call.
    return header.parent?.toolCallId === undefined ? undefined : withLink(ended(), header);
  };
  return {
    header,
    path: file.path,
    *records(from) {
      const index = from === undefined ? file.whole : file.rest();
      yield* problems().map((problem): SourceRecord => ({ kind: "problem", problem }));
      yield* readRecords(index, chain, header.sessionId, (reading) => {
        ended = reading;
      });
    },
    ...(chain === file.home ? { position } : {}),
  };
}

/**
 * True if Claude Code wrote the file: one of its records has a uuid, a parent uuid, and a message of Anthropic's API or a mark of a
 * sidechain; or it is a side record of a type that only Claude Code writes.
 */
function isClaude({ records }: FileHead): boolean {
  return records.some((record) => hasTreePosition(record) || isSideRecord(record));
}

/** Other programs write the same tree with messages of another shape (Qwen Code: `parts`), and no mark of a sidechain. */
function hasTreePosition(record: JsonObject): boolean {
  const { type, uuid, parentUuid, message, isSidechain, systemPayload } = record;
  if (typeof type !== "string" || typeof uuid !== "string" || (parentUuid !== null && typeof parentUuid !== "string")) return false;
  return isObject(message) ? isMessage(message) : typeof isSidechain === "boolean" && systemPayload === undefined;
}

function isMessage({ role, content }: JsonObject): boolean {
  return (role === "user" || role === "assistant") && (typeof content === "string" || Array.isArray(content));
}

function isSideRecord(record: JsonObject): boolean {
  switch (record.type) {
    case "summary":
      return typeof record.summary === "string" && typeof record.leafUuid === "string";
    case "queue-operation":
      return typeof record.operation === "string" && typeof record.sessionId === "string";
    case "file-history-snapshot":
      return typeof record.messageId === "string" && typeof record.snapshot === "object";
    case "custom-title":
    case "ai-title":
    case "last-prompt":
    case "permission-mode":
      return typeof record.sessionId === "string";
  }
  return false;
}

/** A transcript in a file, of which an earlier reading may have saved what a later one needs. It is read only when that is not enough. */
class Transcript {
  readonly path: string;
  /** The number of the session that the file is of: 0 is the conversation, 1 that of an agent's file. */
  readonly home: number;
  /** Where an earlier reading ended; undefined: there was none, or it saved nothing. */
  readonly earlier: ReadingPosition | undefined;
  readonly #agent: string | undefined;
  readonly #saved: SavedTranscript | undefined;
  #whole: IndexedFile | undefined;

  constructor(path: string, earlier: ReadingPosition | undefined) {
    this.path = path;
    this.#agent = agentIdOfFile(path);
    this.home = this.#agent === undefined ? 0 : 1;
    this.#saved = savedIn(earlier);
    this.earlier = this.#saved && earlier;
  }

  /** True if all of the file was indexed, or has to be. */
  get isWhole(): boolean {
    return this.#saved === undefined || this.#whole !== undefined;
  }

  /** The index of all of the file. Reads it at the first call. */
  get whole(): IndexedFile {
    this.#whole ??= indexFile(this.path, this.#agent);
    return this.#whole;
  }

  /** The index of the part after the earlier reading. @throws {ReadFromStartError} a record refers to one that was not saved. */
  rest(): IndexedFile {
    if (this.earlier === undefined || this.#saved === undefined) throw new ReadFromStartError();
    return indexRest(this.path, this.#agent, this.earlier, this.#saved);
  }

  /** The facts of the sessions: of an earlier reading as long as they are enough. */
  get chains(): readonly ChainFacts[] {
    return this.isWhole ? this.whole.chains : (this.#saved?.chains ?? []);
  }

  get titles(): SessionFile["titles"] {
    return this.isWhole ? this.whole.titles : new Titles(this.#saved?.titles).choose(() => false);
  }
}
