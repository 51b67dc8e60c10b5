import type { SessionId } from "../../ids/ids.js";
import { isId } from "../../ids/ids.js";
import { type JsonObject, millisecondsOf, stringAt, without } from "../../source/narrow.js";
import type { SourceHeader, SourceParent } from "../../source/source-session.js";
import { derivedId } from "./derived-id.js";
import { parentSessionOf } from "./parent-session.js";
import type { PiFile } from "./pi-file.js";

const KNOWN = ["type", "id", "timestamp", "cwd", "title"];

/** The id of the session in `file`: its own, unless that could not name a session. */
export function sessionIdOf(file: PiFile): SessionId {
  const id = stringAt(file.header, "id") ?? "";
  return isId(id) ? id : derivedId(id);
}

/** What the first lines say of a session; `startedBy` when it is a subagent's. */
export function headerOf(file: PiFile, sessionId: SessionId, startedBy: SessionId | undefined): SourceHeader {
  return {
    sessionId,
    createdAtMs: millisecondsOf(file.header.timestamp),
    cwd: nonEmpty(stringAt(file.header, "cwd")),
    title: titleOf(file),
    kind: startedBy === undefined ? "conversation" : "subagent",
    parent: parentOf(file.header, startedBy),
    metadata: without(file.header, KNOWN),
  };
}

/** The title in the slot of an oh-my-pi file, or else in its header. */
export function titleOf({ titleSlot, header }: PiFile): string | undefined {
  return nonEmpty(titleSlot === undefined ? undefined : stringAt(titleSlot, "title")) ?? nonEmpty(stringAt(header, "title"));
}

function parentOf(header: JsonObject, startedBy: SessionId | undefined): SourceParent | undefined {
  const sessionId = startedBy ?? parentSessionOf(header);
  return sessionId === undefined ? undefined : { sessionId };
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
