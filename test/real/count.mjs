// Counts of sessions, made twice: from the bytes that an agent wrote, by the reader in the agent's file, which shares nothing with Bough, and
// from the entries of a store. Both have one form, so that a comparison is one of lists.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { exportBough } from "@bough/formats";
import { openStore } from "@bough/session-core";

/**
 * @typedef {{ input: number, output: number, cacheRead: number, cacheWrite: number }} Usage
 *
 * @typedef {object} CountedReply
 * @property {string} key     the request: an id of the agent or of the provider, the same in every copy of a session
 * @property {string} text
 * @property {Usage | null} usage
 *
 * @typedef {object} CountedSession
 * @property {string} id
 * @property {string[]} prompts
 * @property {CountedReply[]} replies
 * @property {string[]} calls                              ids
 * @property {{ id: string, text: string }[]} results
 */

export const NO_USAGE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

export function addUsage(left, right) {
  const sum = {};
  for (const kind of Object.keys(NO_USAGE)) sum[kind] = left[kind] + (right?.[kind] ?? 0);
  return sum;
}

/** The files below a folder whose names end with `ending`; none if there is no folder. */
export function filesBelow(folder, ending) {
  try {
    const all = readdirSync(folder, { recursive: true, withFileTypes: true });
    return all
      .filter((file) => file.isFile() && file.name.endsWith(ending))
      .map((file) => join(file.parentPath, file.name))
      .sort();
  } catch (error) {
    if (error.code === "ENOENT") return [];
    throw error;
  }
}

export function jsonLines(file) {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line.trim() !== "").map((line) => JSON.parse(line));
}

/** An empty count of a session. */
export function newCount(id) {
  return { id, prompts: [], replies: [], calls: [], results: [] };
}

/** Every session of a store as the lines of Bough's own format, the header and the entries by their ids. */
export async function storedSessions(path) {
  const store = await openStore({ path, mode: "read-only" });
  try {
    const sessions = [];
    for (let cursor = null; ; ) {
      const page = await store.listSessions({ kind: "all", archived: "all", ...(cursor === null ? {} : { cursor }) });
      for (const { id } of page.items) sessions.push(await storedSession(await store.openSession(id)));
      if (page.next === null) return sessions;
      cursor = page.next;
    }
  } finally {
    await store.close();
  }
}

async function storedSession(session) {
  const lines = [];
  for await (const line of exportBough(session, { secrets: "keep" })) lines.push(JSON.parse(line));
  const entries = new Map(lines.filter(({ type }) => type === "entry").map((line) => [line.id, line]));
  return { id: session.id, header: lines[0], entries, others: lines.slice(1).filter(({ type }) => type !== "entry") };
}

/** The count of a session of a store. */
export function countStored({ id, entries }) {
  const count = newCount(id);
  for (const { id: key, entry } of entries.values()) {
    if (entry.type === "compaction" && entry.usage !== undefined) count.replies.push({ key, text: "", usage: usageOf(entry.usage) });
    if (entry.type !== "message") continue;
    const { message } = entry;
    if (message.role === "user") count.prompts.push(textOf(message.content));
    if (message.role === "toolResult") count.results.push({ id: message.toolCallId, text: textOf(message.content) });
    if (message.role !== "assistant") continue;
    count.replies.push({ key, text: textOf(message.content), usage: usageOf(message.usage) });
    count.calls.push(...message.content.filter(({ type }) => type === "toolCall").map((call) => call.id));
  }
  return count;
}

const textOf = (content) =>
  typeof content === "string" ? content : content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");

const usageOf = (usage) => (usage === undefined ? null : Object.fromEntries(Object.keys(NO_USAGE).map((kind) => [kind, usage[kind] ?? 0])));
