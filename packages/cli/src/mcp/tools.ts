import { recallRead, recallReadInput, recallSearch, recallSearchInput } from "@bough/compaction";
import type { SessionMasks } from "@bough/formats/secrets";
import { type EntryId, type OutlineRow, pagesOf, type Session, type SessionRecord } from "@bough/session-core";
import { CONVERSATION_TYPES, cleanText, counted, isPrivate, oneLine } from "@bough/session-core/view";
import * as z from "zod";
import { findUnknownAgent } from "../session/chosen-sessions.js";
import { sessionTitle } from "../session/names.js";
import { readOutline } from "../session/paging.js";
import { glyphsFor } from "../terminal/glyphs.js";
import { paintLine } from "../terminal/line.js";
import { printTree } from "../tree/print-tree.js";
import { cutLines, defineTool, INPUT, InvalidInputError, type McpTool, minute, openNamed } from "./tool.js";

// The tools that show what there is: the sessions of the store, the branches of one, the files that it touched.

const listSessions = defineTool(
  {
    name: "list_sessions",
    title: "List sessions",
    description: "Sessions of coding agents in the store, the most recently active first: id, time, number of messages, directory, title.",
  },
  z.strictObject({
    cwd: z.string().min(1).max(4096).optional().describe("Only sessions recorded in this directory or below it, an absolute path."),
    include: z.enum(["conversations", "archived", "subagents", "all"]).default("conversations").describe("Which sessions to list."),
    limit: z.int().min(1).max(200).default(20),
    cursor: z.string().max(200).optional().describe("What the last answer said to continue with."),
  }),
  async ({ store, masks }, { cwd, include, limit, cursor }) => {
    const { items, next } = await store.listSessions({
      under: cwd === undefined ? undefined : [cwd],
      limit,
      cursor,
      kind: include === "subagents" || include === "all" ? "all" : "conversation",
      archived: include === "archived" || include === "all" ? "all" : false,
    });
    if (items.length === 0)
      return cwd === undefined ? "The store has no sessions." : `No session was recorded in ${cleanText(cwd)} or below it.`;
    const more = next === null ? [] : [`More: list_sessions with cursor "${next}".`];
    const lines: string[] = [];
    for (const record of items) {
      const mask = async (text: string) => (await masks?.maskTitle(text, () => store.openSession(record.id))) ?? text;
      lines.push(sessionLine(record, await mask(sessionTitle(record)), await mask(record.cwd ?? "no directory")));
    }
    return [...lines, ...more].join("\n");
  },
);

function sessionLine(record: SessionRecord, title: string, directory: string): string {
  const marks = [record.kind === "subagent" ? "subagent" : "", record.archivedAtMs === null ? "" : "archived"].filter(
    (mark) => mark !== "",
  );
  const parts = [record.id, minute(record.activeAtMs), counted(record.messageCount, "message"), ...marks, directory];
  return cleanText(`${parts.join("  ")}\n  ${oneLine(title, 200)}`);
}

const TREE_WIDTH = 140;

const getTree = defineTool(
  {
    name: "get_tree",
    title: "Show the branches of a session",
    description:
      "The tree of a session, a line for each entry: id, role, beginning of its text. Bullets mark the path of the leaf, where the session stands. Long runs without a branch are shortened. Use it to find out which ways were tried; read entries with read_entries.",
  },
  z.strictObject({
    session: INPUT.session,
    show: z
      .enum(["messages", "user", "all"])
      .default("messages")
      .describe("user: only what the user wrote. all: tool results and settings too."),
    max_chars: INPUT.maxChars,
  }),
  async (source, { session: name, show, max_chars }) => {
    const session = await openNamed(source, name);
    const masker = await source.masks?.of(session);
    const [rows, labels, leaves] = await Promise.all([readOutline(session), session.labels.list(), session.leaves()]);
    if (rows.length === 0) return "The session has no entries.";
    const shown = (await withoutPrivate(session, rows)).map((row) => ({ ...row, preview: masker?.maskLine(row.preview) ?? row.preview }));
    const tree = { rows: shown, labels: masker?.maskValue(labels) ?? labels, leaves, leafName: session.leafName };
    const filter = show === "messages" ? "default" : show;
    const { lines } = printTree(tree, { width: TREE_WIDTH, filter, full: false, glyphs: glyphsFor({}) });
    const heading = `${session.id}: ${counted(rows.length, "entry", "entries")}, ${counted((await session.tree.tips()).length, "branch", "branches")}`;
    const texts = [...lines].map((line) => paintLine(line, false));
    const rest = (left: number) => `(${counted(left, "more line")}: ask with a larger max_chars, or show: user.)`;
    return cleanText([heading, cutLines(texts, max_chars, rest)].join("\n"));
  },
);

/** The rows with the previews of what the user kept out of the conversation replaced. */
async function withoutPrivate(session: Session, rows: readonly OutlineRow[]): Promise<readonly OutlineRow[]> {
  // Only commands of the user can be private.
  const commands = await session.entriesById(rows.filter(({ role }) => role === "bashExecution").map(({ id }) => id));
  return rows.map((row) => {
    const entry = commands.get(row.id);
    return entry !== undefined && isPrivate(entry) ? { ...row, preview: "(kept private by the user)" } : row;
  });
}

const filesTouched = defineTool(
  {
    name: "files_touched",
    title: "Files that a session touched",
    description:
      "The files that the tool calls of a path read, wrote, edited, deleted or moved: how often, whether it failed, and the entry of the last time, for read_entries.",
  },
  z.strictObject({
    session: INPUT.session,
    entry: INPUT.entry,
    path: z.string().max(4096).optional().describe("Only files whose path ends with this."),
    max_chars: INPUT.maxChars,
  }),
  async (source, { session: name, entry, path, max_chars }) => {
    const session = await openNamed(source, name);
    const masker = await source.masks?.of(session);
    const found = await summarizeFiles(session, await session.resolve(entry), path);
    const files = masker?.maskValue(found) ?? found;
    if (files.length === 0)
      return path === undefined ? "No tool call of this path touched a file." : `No file ends with ${cleanText(path)}.`;
    return cleanText(cutLines(files, max_chars, (left) => `(${counted(left, "more file")}: ask with path, or a larger max_chars.)`));
  },
);

/** A line for each file, the one that was touched last first. */
async function summarizeFiles(session: Session, toId: string, ending: string | undefined): Promise<readonly string[]> {
  const touched = new Map<string, { readonly kinds: Map<string, number>; lastId: string }>();
  for (const { path, kind, outcome, entryId } of await session.fileOperations({ toId })) {
    if (ending !== undefined && !path.endsWith(ending)) continue;
    const file = touched.get(path) ?? { kinds: new Map<string, number>(), lastId: entryId };
    const what = outcome === "failed" ? `${kind} failed` : kind;
    file.kinds.set(what, (file.kinds.get(what) ?? 0) + 1);
    // Insertion order is the order of the last touch.
    touched.delete(path);
    touched.set(path, { kinds: file.kinds, lastId: entryId });
  }
  return [...touched]
    .reverse()
    .map(([path, { kinds, lastId }]) => `${path}  ${[...kinds].map(([kind, times]) => `${kind} ${times}×`).join(", ")}  last in ${lastId}`);
}

/** Tools that show sessions, branches and files. */
export const SESSION_TOOLS: readonly McpTool[] = [listSessions, getTree, filesTouched];

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
    const wrong = agents && (await findUnknownAgent(source, agents));
    // Without it the answer would be that no entry has the words.
    if (wrong !== undefined)
      throw new InvalidInputError(`agents: no session is of ${JSON.stringify(wrong.unknown)}. There are ${wrong.known.join(", ")}.`);
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
    entry: INPUT.entry,
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
  const scan = { leafId, order: "up", types: CONVERSATION_TYPES, limit: PAGE } as const;
  for await (const { items } of pagesOf((cursor) => session.scan({ ...scan, cursor })))
    for (const { id } of items) {
      const { text } = await recallRead(session, { entries: [id] }, { maxChars: entryChars, masks });
      left -= text.length + 2;
      if (left < 0 && parts.length > 0) return [`(More above: read_path with entry ${id}.)`, ...parts.reverse()].join("\n\n");
      parts.push(text);
    }
  return parts.length === 0 ? "Nothing was said on this path." : parts.reverse().join("\n\n");
}

/** The recall tools. */
export const RECALL_TOOLS: readonly McpTool[] = [searchSessions, readEntries, readPath];
