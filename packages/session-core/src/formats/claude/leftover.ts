import { type JsonObject, stringAt, without } from "../../source/narrow.js";

// Kept elsewhere: as the entry's id, parent and time, in its message, or once in the session's header.
const KEPT_ELSEWHERE = [
  "type",
  "subtype",
  "uuid",
  "parentUuid",
  "logicalParentUuid",
  "timestamp",
  "message",
  "content",
  "attachment",
  "compactMetadata",
  "toolUseResult",
  "costUSD",
  "isMeta",
  "isSidechain",
  "isApiErrorMessage",
  "isCompactSummary",
  "isVisibleInTranscriptOnly",
  "sourceToolAssistantUUID",
  "sessionId",
  "agentId",
  "cwd",
  "gitBranch",
  "version",
  "userType",
  "entrypoint",
  "slug",
];

/**
 * What a record says besides its message, under `claude`: fields that we do not know, and the git branch where it is
 * not the one the session began on. Empty when there is nothing.
 */
export function leftoverOf(record: JsonObject, firstBranch: string | undefined): { readonly claude?: JsonObject } {
  const rest = without(record, KEPT_ELSEWHERE);
  const branch = stringAt(record, "gitBranch");
  const claude = branch === undefined || branch === firstBranch ? rest : { gitBranch: branch, ...rest };
  return Object.keys(claude).length === 0 ? {} : { claude };
}
