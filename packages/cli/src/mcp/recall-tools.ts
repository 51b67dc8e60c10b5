import { recallRead, recallReadInput, recallSearch, recallSearchInput } from "@bough/compaction";
import type { SessionMasks } from "@bough/formats/secrets";
import type { EntryId, Session } from "@bough/session-core";
import { CONVERSATION_TYPES } from "@bough/session-core/view";
import { z } from "zod";
import { defineTool, INPUT, type McpTool, openNamed } from "./tool.js";

// The tools that find and read what was said. The answers are those of the recall engine, without anything that the user kept private.

const searchSessions = defineTool(
  {
    name: "search_sessions",
    title: "Search sessions",
    description:
      "Find what was said, done or printed in earlier sessions, on every branch: error messages, commands, decisions, file names, what the user asked for; by words, parts of words, exact texts such as C++ or --flag, or a /regular expression/. Each hit has its entry id in brackets, its session, and the lines where the words stand closest together; read more with read_entries. Without words it lists the newest entries that meet the other conditions.",
  },
  recallSearchInput.extend({
    session: INPUT.session.optional().describe("Only this session: id, its beginning, or title. Left out: all sessions."),
    agents: z
      .array(z.string().min(1).max(200))
      .min(1)
      .optional()
      .describe("Only sessions of these agents: claude, pi, or bough for sessions made in the store itself."),
    max_chars: INPUT.maxChars,
  }),
  async (source, { session, agents, max_chars, ...input }) => {
    const target = session === undefined ? source.store : await openNamed(source, session);
    return (await recallSearch(target, input, { maxChars: max_chars, filter: { agents }, masks: source.masks })).text;
  },
);

const readEntries = defineTool(
  {
    name: "read_entries",
    title: "Read entries",
    description:
      "Read entries of a session word for word, tool calls and tool output included, by the ids that the other tools give: several at once, or a range of a path. lines and grep show parts of long ones with line numbers; around adds the entries before and after.",
  },
  z.strictObject({ ...recallReadInput.shape, session: INPUT.session, max_chars: INPUT.maxChars }),
  async (source, { session: name, max_chars, ...input }) => {
    const session = await openNamed(source, name);
    return (await recallRead(session, input, { maxChars: max_chars, masks: source.masks })).text;
  },
);

const readPath = defineTool(
  {
    name: "read_path",
    title: "Read a conversation",
    description:
      "The conversation that leads to an entry, oldest message first: the newest part of it, as much as fits. Use it to learn where a session stands; the answer says how to read further back.",
  },
  z.strictObject({
    session: INPUT.session,
    entry: z.string().min(1).max(200).default("@leaf").describe("The end of the path: id, its beginning, a label, @leaf."),
    max_chars: INPUT.maxChars,
  }),
  async (source, { session: name, entry, max_chars }) => {
    const session = await openNamed(source, name);
    return readNewest(session, await session.resolve(entry), max_chars, source.masks);
  },
);

const PAGE = 50;
/** The share of an answer that one entry may fill. */
const ENTRY_SHARE = 1 / 4;

/** The newest entries of a path that fit, oldest first. */
async function readNewest(session: Session, leafId: EntryId, maxChars: number, masks: SessionMasks | undefined): Promise<string> {
  const entryChars = Math.max(200, Math.floor(maxChars * ENTRY_SHARE));
  const parts: string[] = [];
  let left = maxChars;
  for (let cursor: string | undefined; ; ) {
    const { items, next } = await session.scan({ leafId, order: "up", types: CONVERSATION_TYPES, limit: PAGE, cursor });
    for (const { id } of items) {
      const { text } = await recallRead(session, { entries: [id] }, { maxChars: entryChars, masks });
      left -= text.length + 2;
      if (left < 0 && parts.length > 0) return [`(More above: read_path with entry ${id}.)`, ...parts.reverse()].join("\n\n");
      parts.push(text);
    }
    if (next === null) break;
    cursor = next;
  }
  return parts.length === 0 ? "Nothing was said on this path." : parts.reverse().join("\n\n");
}

/** The recall tools. */
export const RECALL_TOOLS: readonly McpTool[] = [searchSessions, readEntries, readPath];
