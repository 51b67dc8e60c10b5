import { type Entry, oneLine, type Session, textOf } from "@bough/session-core";
import { fileListsOf } from "../path/details.js";
import { stripComposed } from "../summary/compose.js";
import { cleanText } from "../summary/text/clean-text.js";
import { type Covered, coveredOn } from "./coverage.js";
import { titleOf } from "./list-checkpoints.js";

const NONE = "Nothing on this path has been summarised yet: everything is in your context.";
/** A list of what the person asked is cut here. */
const MAX_REQUESTS = 40;
const MAX_FILES = 40;

/** All summaries of the path in a line each, or one of them with what it covers. */
export async function describeText(session: Session, id: string | undefined): Promise<string> {
  const all = await coveredOn(session);
  if (all.length === 0) return NONE;
  if (id === undefined) return all.map(lineOf).join("\n");
  const one = all.find(({ summary }) => summary.id === id);
  if (one === undefined)
    return `${id.slice(0, 60)} is no summary on this path. There are: ${all.map(({ summary }) => summary.id).join(", ")}`;
  return cleanText([lineOf(one), ...(await contents(session, one)), "", stripComposed(one.summary.summary)].join("\n"));
}

function lineOf({ summary, fromEntryId, toEntryId }: Covered): string {
  const what = summary.type === "compaction" ? "summary" : "summary of a branch that was left";
  const range = fromEntryId === null || toEntryId === null ? "what it covers is not known" : `covers ${fromEntryId} to ${toEntryId}`;
  return cleanText(`${summary.id}: ${what}, ${new Date(summary.createdAtMs).toISOString().slice(0, 16)}, ${range}: ${titleOf(summary)}`);
}

async function contents(session: Session, { summary, fromEntryId, toEntryId }: Covered): Promise<readonly string[]> {
  if (fromEntryId === null || toEntryId === null) return [];
  const { parentId } = await session.entry(fromEntryId);
  const roles = new Map<string, number>();
  const requests: string[] = [];
  for await (const entry of session.walk({ leafId: toEntryId, ...(parentId === null ? {} : { stopAt: parentId }) })) {
    const role = entry.type === "message" ? entry.message.role : entry.type;
    roles.set(role, (roles.get(role) ?? 0) + 1);
    const asked = requestOf(entry);
    if (asked !== null && requests.length <= MAX_REQUESTS) requests.push(asked);
  }
  const { readFiles, modifiedFiles } = fileListsOf(summary);
  return [
    `entries: ${[...roles].map(([role, count]) => `${count} ${role}`).join(", ")}`,
    ...(modifiedFiles.length === 0 ? [] : [`files modified: ${modifiedFiles.slice(0, MAX_FILES).join(", ")}`]),
    ...(readFiles.length === 0 ? [] : [`files read: ${readFiles.slice(0, MAX_FILES).join(", ")}`]),
    ...(requests.length === 0 ? [] : ["the user said:", ...requests.slice(0, MAX_REQUESTS)]),
    ...(requests.length > MAX_REQUESTS ? ["…"] : []),
  ];
}

function requestOf(entry: Entry): string | null {
  if (entry.type !== "message" || entry.message.role !== "user") return null;
  return `- ${entry.id}: ${oneLine(textOf(entry.message.content))}`;
}
