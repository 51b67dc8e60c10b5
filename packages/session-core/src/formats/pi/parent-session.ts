import type { SessionId } from "../../ids/ids.js";
import { isId } from "../../ids/ids.js";
import { type JsonObject, stringAt } from "../../source/narrow.js";

// pi names a file `<time>_<session id>.jsonl`; the time has no underscore, an id may.
const FILE_NAME = /^\d{4}-\d\d-\d\dT[\d-]+Z_(.+)$/;

// A copy whose name was taken ends in -1, -2…; only behind a UUID can that be told from the id.
const UUID_AND_SUFFIX = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:-\d+)?$/i;

/**
 * The session that this one was forked from, as the header names it: a file's path (pi; `branchedFrom` in version 1,
 * which pi's own migration loses, regression R60) or a session id (oh-my-pi). The file is not looked for.
 */
export function parentSessionOf(header: JsonObject): SessionId | undefined {
  const given = stringAt(header, "parentSession") ?? stringAt(header, "branchedFrom");
  if (given === undefined) return undefined;
  const name =
    given
      .split(/[\\/]/)
      .at(-1)
      ?.replace(/\.jsonl$/, "") ?? "";
  const id = FILE_NAME.exec(name)?.[1] ?? name;
  const sessionId = UUID_AND_SUFFIX.exec(id)?.[1] ?? id;
  return isId(sessionId) ? sessionId : undefined;
}
