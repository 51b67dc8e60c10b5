import type { SessionId } from "@bough/session-core";
import type { SourceHeader } from "@bough/session-core/engine";
import { isId, type JsonObject, objectAt, parseTime, stringAt, without } from "@bough/session-core/wire";
import { derivedId } from "../source/derived-id.js";
import { isOnlyName, sourceOf, withoutSource } from "./written-ids.js";

/** The titles that opencode gives before its model has written one. */
const PLACEHOLDER = /^(?:New|Child) session - \d{4}-\d\d-\d\d/;

/** The members of a session's record that are in the header, change with each prompt or reply, or are large. */
const KEPT_ELSEWHERE = ["id", "parentID", "directory", "title", "time", "revert", "summary", "share", "cost", "tokens", "agent", "model"];

/** The title of a session; undefined: none yet. */
export function titleOf(info: JsonObject): string | undefined {
  const title = stringAt(info, "title");
  return title === undefined || title === "" || PLACEHOLDER.test(title) || isOnlyName(info) ? undefined : title;
}

/** @param callId the tool call of the parent that started this session. */
export function toSourceHeader(info: JsonObject, sessionId: SessionId, callId: string | undefined): SourceHeader {
  const parentId = stringAt(info, "parentID");
  const metadata = without(withoutSource(info), KEPT_ELSEWHERE);
  const source = sourceOf(info);
  const forkOf = source === undefined || source === sessionId ? undefined : { sessionId: toSessionId(source) };
  return {
    sessionId,
    createdAtMs: parseTime(objectAt(info, "time")?.created),
    cwd: stringAt(info, "directory"),
    title: titleOf(info),
    kind: parentId === undefined ? "conversation" : "subagent",
    parent: parentId === undefined ? forkOf : { sessionId: toSessionId(parentId), toolCallId: callId },
    metadata: Object.keys(metadata).length === 0 ? undefined : metadata,
  };
}

/** The id of a session in the store of Bough. */
export function toSessionId(id: string): SessionId {
  return isId(id) ? id : derivedId("opencode", id);
}

export function isSessionInfo(value: JsonObject): boolean {
  const time = objectAt(value, "time");
  const isTimed = time !== undefined && typeof time.created === "number";
  const hasPlace = typeof value.directory === "string" || typeof value.projectID === "string";
  return isTimed && hasPlace && typeof value.id === "string" && typeof value.title === "string" && value.role === undefined;
}
