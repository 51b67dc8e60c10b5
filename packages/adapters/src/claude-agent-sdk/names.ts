import { createHash } from "node:crypto";
import type { SessionKey } from "@anthropic-ai/claude-agent-sdk";
import type { SessionRecord } from "@bough/session-core";

/** The members of a session's metadata that name its transcript. Listings find sessions by them. */
export interface TranscriptMetadata {
  readonly claudeProject: string;
  readonly claudeSession: string;
  /** null: the conversation. */
  readonly claudeSubpath: string | null;
}

export function metadataOf({ projectKey, sessionId, subpath }: SessionKey): TranscriptMetadata & Record<string, string | null> {
  return { claudeProject: projectKey, claudeSession: sessionId, claudeSubpath: subpath ?? null };
}

/** The name of an agent in the subpath of its transcript: `x7` of `subagents/agent-x7`; undefined: the conversation. */
export function agentOf({ subpath }: SessionKey): string | undefined {
  return subpath === undefined ? undefined : (subpath.split("/").at(-1) ?? "").replace(/^agent-/, "");
}

/** True if the store knows no transcript of a session, as after `bough import`: it may be that of any with its id. */
export function mayBecome({ metadata }: Pick<SessionRecord, "metadata">): boolean {
  return metadata["claudeProject"] === undefined;
}

/** True if a session of the store is that of this transcript. */
export function isOf({ metadata }: Pick<SessionRecord, "metadata">, key: SessionKey): boolean {
  const { claudeProject, claudeSession, claudeSubpath } = metadataOf(key);
  return (
    metadata["claudeProject"] === claudeProject &&
    metadata["claudeSession"] === claudeSession &&
    metadata["claudeSubpath"] === claudeSubpath
  );
}

const USABLE = /^[!-~]{1,100}$/;

/** The session id of a conversation: its name, as `bough import` gives it. */
export function conversationIdOf({ sessionId }: SessionKey): string {
  return USABLE.test(sessionId) ? sessionId : createHash("sha256").update(sessionId).digest("hex").slice(0, 16);
}

/** The id of a conversation whose name another project has taken. */
export function otherIdOf(id: string, { projectKey, subpath }: SessionKey): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([projectKey, subpath ?? null]))
    .digest("hex")
    .slice(0, 8);
  return `${id}~${digest}`;
}

/** True if a session of a project is a conversation, and not a copy of one: a fork of a whole tree has the metadata of its source. */
export function isConversation({ id, metadata: { claudeSession } }: Pick<SessionRecord, "id" | "metadata">, projectKey: string): boolean {
  if (typeof claudeSession !== "string") return false;
  const key = { projectKey, sessionId: claudeSession };
  const plain = conversationIdOf(key);
  return id === plain || id === otherIdOf(plain, key);
}
