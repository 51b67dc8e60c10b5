// The shapes of messages, payloads and contexts, as deep as the functions that take them read. Linear in messages and blocks,
// not in the length of texts.
import { byMember, list, nullable, OBJECT, optional, type Rule, record, TEXT } from "./rules.js";

const TEXT_BLOCK = record({ text: TEXT });
const IMAGE_BLOCK = record({ data: TEXT, mimeType: TEXT });
/** A file. */
const FILE_BLOCK: Rule = record({ mediaType: TEXT, data: optional(TEXT), url: optional(TEXT), filename: optional(TEXT) });
const FOREIGN_BLOCK = record({ originalType: TEXT });
const BLOCKS: Readonly<Record<string, Rule>> = {
  text: TEXT_BLOCK,
  image: IMAGE_BLOCK,
  file: FILE_BLOCK,
  thinking: record({ thinking: TEXT, thinkingSignature: optional(TEXT) }),
  toolCall: record({ id: TEXT, name: TEXT, arguments: OBJECT }),
  foreign: FOREIGN_BLOCK,
};
/** A block of any message. */
export const BLOCK: Rule = byMember("type", BLOCKS);
/** A block of a user message, tool result or custom message. */
export const CONTENT_BLOCK: Rule = byMember("type", {
  text: TEXT_BLOCK,
  image: IMAGE_BLOCK,
  file: FILE_BLOCK,
  foreign: FOREIGN_BLOCK,
});
const LIST_OF_BLOCKS = list(BLOCK, "a text or an array of blocks");
const CONTENT: Rule = (value, at) => (typeof value === "string" ? undefined : LIST_OF_BLOCKS(value, at));

const NATIVE = record({ provider: TEXT, model: optional(TEXT), items: list(OBJECT, "an array of objects") });

const MESSAGES_BY_ROLE: Readonly<Record<string, Rule>> = {
  system: record({ content: CONTENT }),
  user: record({ content: CONTENT }),
  assistant: record({ content: LIST_OF_BLOCKS, usage: optional(OBJECT), stopReason: optional(TEXT), model: optional(TEXT) }),
  toolResult: record({ toolCallId: TEXT, toolName: optional(TEXT), content: CONTENT }),
  bashExecution: record({ command: TEXT, output: TEXT }),
  custom: record({ customType: TEXT, content: CONTENT }),
  compactionSummary: record({ summary: TEXT, native: optional(NATIVE) }),
  branchSummary: record({ summary: TEXT }),
};

/** A message of a conversation or of a context. */
export const MESSAGE: Rule = byMember("role", MESSAGES_BY_ROLE);
/** Messages of a conversation or of a context. */
export const MESSAGES: Rule = list(MESSAGE, "an array of messages");
/** A tool call. */
/** The content of a message: a text or blocks. */
export const MESSAGE_CONTENT: Rule = CONTENT;

const PAYLOADS: Readonly<Record<string, Rule>> = {
  message: record({ message: MESSAGE }),
  compaction: record({ summary: TEXT, firstKeptEntryId: nullable(TEXT) }),
  branch_summary: record({ summary: TEXT }),
  model_change: record({ modelId: TEXT, provider: optional(TEXT) }),
  thinking_level_change: record({ thinkingLevel: nullable(TEXT) }),
  context_edit: record({ targetId: TEXT, replacement: nullable(OBJECT) }),
  custom_message: record({ customType: TEXT, content: CONTENT }),
  custom: record({ customType: TEXT }),
  foreign: record({ originalType: TEXT }),
};

/** The payload of an entry. */
export const PAYLOAD: Rule = byMember("type", PAYLOADS);

/** A context, as `Session.context` returns it. */
export const SESSION_CONTEXT: Rule = record({
  messages: MESSAGES,
  entries: list(TEXT, "an array of ids"),
  system: nullable(TEXT),
  compaction: nullable(OBJECT),
  model: nullable(record({ modelId: TEXT, provider: optional(TEXT) })),
});

/** Operations on files, as `Session.fileOperations` returns them. */
export const PATHS: Rule = list(TEXT, "an array of paths");
export const FILE_OPERATIONS: Rule = list(record({ path: TEXT, kind: TEXT, outcome: TEXT }));

/** An id of a session or an entry. Any text: an unknown id throws a not-found error. */
export const ID = TEXT;
