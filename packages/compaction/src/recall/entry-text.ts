import type { AssistantBlock, ContentBlock, ContextEditPayload, Entry, EntryId, Message, Session } from "@bough/session-core";
import { cleanText, describeFile } from "@bough/session-core/internals";
import { formatIsoTime } from "../checkpoints/checkpoint.js";

/** A range of a path. */
interface RangeRequest {
  readonly from: EntryId;
  readonly to: EntryId;
  /** Additional entries before and after the range. */
  readonly around: number;
  /** Read up to this offset of the text, in UTF-16 code units; later text may be missing. */
  readonly endChar: number;
}

/** Entries read at once; more than most answers contain. */
const PAGE = 50;

/**
 * Formats the entries of a range, from the first on. An invalid range returns one line with the reason. Cost: the bodies
 * of the entries up to `endChar`, a page at a time.
 */
export async function readRangeText(session: Session, request: RangeRequest): Promise<string> {
  const { from, to, endChar, around } = request;
  const shared = await session.tree.commonAncestor(from, to);
  if (shared !== from) return explainOrder(from, to, shared);
  let text = "";
  const read = (entries: readonly Entry[]) => {
    for (const entry of entries) if (text.length <= endChar) text += `${text === "" ? "" : "\n\n"}${formatEntry(entry)}`;
  };
  const above = await session.scan({ leafId: from, order: "up", limit: around + 1 });
  read(above.items.toReversed());
  if (to !== from) {
    for (let cursor: string | undefined; text.length <= endChar; ) {
      const { items, next } = await session.scan({ leafId: to, stopAt: from, order: "down", limit: PAGE, cursor });
      read(items);
      if (next === null) break;
      cursor = next;
    }
  }
  if (around > 0 && text.length <= endChar) read(await readFollowing(session, to, around));
  return text;
}

function explainOrder(from: EntryId, to: EntryId, shared: EntryId | null): string {
  return shared === to
    ? `${from} comes after ${to}: name the earlier entry first.`
    : `${from} and ${to} are on different branches, so nothing lies between them. Read them one by one.`;
}

/** The entries after an entry on the session's current path; none if it is not on it. */
async function readFollowing(session: Session, id: EntryId, count: number): Promise<readonly Entry[]> {
  const { leafId } = session;
  if (leafId === null || (await session.tree.commonAncestor(id, leafId)) !== id) return [];
  return (await session.scan({ leafId, stopAt: id, order: "down", limit: count })).items;
}

/** A line in the text of an entry that looks like the heading of another one. */
const HEAD = /^(?=\[[^\]\s]{1,128}\] (?:\d{4}-\d\d-\d\d \d\d:\d\d|time unknown) )/gm;

/**
 * Formats an entry word for word for a model: id, time, role and content; images by their kind. Omits commands that the
 * user ran outside of the conversation, and data of the host. Removes control characters and quotes lines that look like
 * the heading of another entry.
 */
function formatEntry(entry: Entry): string {
  const head = `[${entry.id}] ${formatTime(entry.createdAtMs)} ${formatSpeaker(entry)}`;
  return `${cleanText(head).replace(/\s+/g, " ")}\n${cleanText(formatBody(entry)).replace(HEAD, "> ")}`.trimEnd();
}

/** Whether a model must not read an entry, because the user excluded it from the conversation. */
export function isPrivate(entry: Entry): boolean {
  return entry.type === "message" && entry.message.role === "bashExecution" && entry.message.excludeFromContext === true;
}

function formatSpeaker(entry: Entry): string {
  if (entry.type !== "message") return entry.type.replaceAll("_", " ");
  const { message } = entry;
  if (message.role !== "toolResult") return message.role;
  return `${message.isError ? "error" : "result"} of ${message.toolName ?? "a tool"}`;
}

function formatBody(entry: Entry): string {
  switch (entry.type) {
    case "message":
      return isPrivate(entry) ? "(a command that the user ran outside of this conversation)" : formatMessage(entry.message);
    case "compaction":
    case "branch_summary":
      return entry.summary;
    case "custom_message":
      return formatBlocks(entry.content);
    case "model_change":
      return entry.modelId;
    case "thinking_level_change":
      return entry.thinkingLevel ?? "default";
    case "context_edit":
      return formatEdit(entry.targetId, entry.replacement);
    case "custom":
      return `(data of the host: ${entry.customType})`;
    case "foreign":
      return `(a record of another program: ${entry.originalType})`;
  }
}

function formatEdit(targetId: string, replacement: ContextEditPayload["replacement"]): string {
  if (replacement === null) return `removes ${targetId} from the context`;
  const { content } = replacement;
  const texts = typeof content === "string" ? [content] : content.flatMap(readBlockText);
  return `replaces ${targetId} in the context:\n${texts.join("\n")}`;
}

/** The blocks of an edit are not validated. */
function readBlockText(block: unknown): readonly string[] {
  return typeof block === "object" && block !== null && "text" in block && typeof block.text === "string" ? [block.text] : [];
}

function formatMessage(message: Message): string {
  switch (message.role) {
    case "bashExecution":
      return `$ ${message.command}\n${message.output}`;
    case "system":
    case "user":
    case "custom":
    case "toolResult":
      return formatBlocks(message.content);
    case "assistant":
      return [formatBlocks(message.content), message.errorMessage === undefined ? "" : `(failed: ${message.errorMessage})`]
        .filter((part) => part !== "")
        .join("\n");
  }
}

function formatBlocks(content: string | readonly (AssistantBlock | ContentBlock)[]): string {
  if (typeof content === "string") return content;
  return content
    .map(formatBlock)
    .filter((text) => text !== "")
    .join("\n");
}

function formatBlock(block: AssistantBlock | ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "thinking":
      return block.thinking.trim() === "" || block.redacted === true ? "" : `(thinking) ${block.thinking}`;
    case "toolCall":
      return `(calls ${block.name}) ${JSON.stringify(block.arguments)}`;
    case "image":
      return "(image)";
    case "file":
      return `(file ${describeFile(block)})`;
    case "foreign":
      return `(${block.originalType})`;
  }
}

/** A time in UTC, to the minute. */
export function formatTime(ms: number): string {
  return formatIsoTime(ms)?.slice(0, 16).replace("T", " ") ?? "time unknown";
}
