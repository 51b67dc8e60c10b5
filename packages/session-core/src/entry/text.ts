import { checked } from "../arguments/rules.js";
import { MESSAGE_CONTENT } from "../arguments/shapes.js";
import { LINE_CHARS, oneLine } from "../text/one-line.js";
import { summaryGist } from "../text/summary-text.js";
import { describeCall } from "../tools/describe-call.js";
import type { EntryPayload } from "./entry.js";
import type { AssistantBlock, AssistantMessage, ContentBlock, FileBlock, Message, MessageRole } from "./message.js";
import { shareLine } from "./preview-calls.js";

/** The content of a message: a text or blocks. */
export type Content = string | readonly (ContentBlock | AssistantBlock)[];

/**
 * The text blocks of a message's content, joined by line breaks. Other blocks are left out.
 *
 * @throws {InvalidArgumentError} `content` is neither a text nor an array of blocks.
 */
export const textOf: (content: string | readonly (ContentBlock | AssistantBlock)[]) => string = checked(joinTextBlocks, [
  "content",
  MESSAGE_CONTENT,
]);

/** `textOf` without the check of its argument, for content that is stored or validated. */
export function joinTextBlocks(content: Content): string {
  if (typeof content === "string") return content;
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** A file in a few words, without its content: its name and its type, such as `plan.pdf (application/pdf)`; without a name its URL. */
export function describeFile(file: FileBlock): string {
  const name = file.filename ?? file.url;
  return name === undefined ? file.mediaType : `${name} (${file.mediaType})`;
}

/**
 * True if the user kept an entry out of the conversation: a command with `excludeFromContext`. No context contains it, and searches
 * skip it unless `includePrivate` is set.
 */
export function isPrivate(payload: EntryPayload): boolean {
  return payload.type === "message" && payload.message.role === "bashExecution" && payload.message.excludeFromContext === true;
}

/**
 * The text of an entry that the search indexes: texts, thinking, arguments of tool calls, tool output, commands, names and types
 * of files, summaries and their file lists; no content of files, images, ids, `details` of messages, `custom` data and foreign records.
 */
export function searchableText(payload: EntryPayload): string {
  switch (payload.type) {
    case "message":
      return messageText(payload.message);
    case "compaction":
      return joinTexts([payload.title, payload.shortSummary, payload.summary, ...textsIn(payload.details)]);
    case "branch_summary":
      return joinTexts([payload.summary, ...textsIn(payload.details)]);
    case "custom_message":
      return contentText(payload.content);
    case "context_edit":
      return payload.replacement === null ? "" : joinTexts(textsIn(payload.replacement.content));
    case "model_change":
    case "thinking_level_change":
    case "custom":
    case "foreign":
      return "";
  }
}

function messageText(message: Message): string {
  switch (message.role) {
    case "system":
    case "user":
    case "toolResult":
    case "custom":
      return contentText(message.content);
    case "bashExecution":
      return joinTexts([message.command, message.output]);
    case "assistant":
      return joinTexts([...message.content.flatMap(blockTexts), message.errorMessage]);
  }
}

function contentText(content: Content): string {
  if (typeof content === "string") return content;
  return content.flatMap((block) => (block.type === "text" || block.type === "file" ? blockTexts(block) : [])).join("\n");
}

function blockTexts(block: AssistantBlock): readonly string[] {
  switch (block.type) {
    case "text":
      return [block.text];
    case "thinking":
      return [block.thinking];
    case "toolCall":
      return [block.name, ...textsIn(block.arguments)];
    case "file":
      return [describeFile(block)];
    case "image":
    case "foreign":
      return [];
  }
}

/** Every text inside a JSON value, in order. `assertJson` has limited the depth. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return [];
  return Object.values(value).flatMap(textsIn);
}

function joinTexts(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join("\n");
}

/**
 * Returns the text that a person typed, from a message in which a program stored it in another form: a slash command of Claude Code
 * (`/init`), a shell command of it (`! npm test`), a prompt that waited while the model worked, a skill of pi (`/skill:review src`), a
 * request to Codex below the files that an editor has open, a prompt to Claude Code in an editor with reminders of the program in the
 * same text. Returns undefined for any other message, also for the output of a command.
 *
 * @example
 * const content = "<command-name>/init</command-name>\n<command-args>fast</command-args>";
 * typedText({ role: "custom", customType: "claude.command", content }); // "/init fast"
 */
export function typedText(message: Message): string | undefined {
  if (message.role === "user") return typedSkill(message.content) ?? typedRequest(message.content) ?? typedBesideReminder(message.content);
  if (message.role !== "custom") return undefined;
  switch (message.customType) {
    case "claude.command":
      return typedCommand(joinTextBlocks(message.content));
    case "claude.bash": {
      const command = inTag(joinTextBlocks(message.content), "bash-input");
      return command === undefined || command === "" ? undefined : `! ${command}`;
    }
    case "claude.queued":
      return joinTextBlocks(message.content).trim() || undefined;
    default:
      return undefined;
  }
}

function typedCommand(text: string): string | undefined {
  const name = inTag(text, "command-name") ?? inTag(text, "command-message")?.split(/\s/, 1)[0];
  if (name === undefined || name === "") return undefined;
  return `/${name.replace(/^\//, "")} ${inTag(text, "command-args") ?? ""}`.trimEnd();
}

function inTag(text: string, tag: string): string | undefined {
  const start = text.indexOf(`<${tag}>`);
  if (start === -1) return undefined;
  const from = start + tag.length + 2;
  const end = text.indexOf(`</${tag}>`, from);
  return text.slice(from, end === -1 ? undefined : end).trim();
}

const SKILL = /^<skill name="([^"\n]+)"[^>\n]*>\n/;

/** pi writes the whole text of a skill before what the person typed after its name. */
function typedSkill(content: Parameters<typeof joinTextBlocks>[0]): string | undefined {
  const first = firstText(content);
  const name = SKILL.exec(first)?.[1];
  if (name === undefined) return undefined;
  const text = joinTextBlocks(content);
  const end = text.indexOf("\n</skill>");
  return end === -1 ? undefined : `/skill:${name} ${text.slice(end + "\n</skill>".length).trim()}`.trimEnd();
}

function firstText(content: Parameters<typeof joinTextBlocks>[0]): string {
  return typeof content === "string" ? content : (content.find((block) => block.type === "text")?.text ?? "");
}

const REQUEST = "\n## My request for Codex:\n";

/** Codex in an editor writes the open files before what the person typed. */
function typedRequest(content: Parameters<typeof joinTextBlocks>[0]): string | undefined {
  const first = firstText(content);
  if (!first.startsWith("# Context from my IDE setup:") && !first.startsWith("# Files mentioned by the user:")) return undefined;
  const at = first.indexOf(REQUEST);
  return at === -1 ? undefined : first.slice(at + REQUEST.length).trim() || undefined;
}

const REMINDERS = /^\s*(?:<system-reminder>[\s\S]*?<\/system-reminder>\s*)+/;

/** Claude Code in an editor writes its reminders before what the person typed. */
function typedBesideReminder(content: Parameters<typeof joinTextBlocks>[0]): string | undefined {
  if (!firstText(content).trimStart().startsWith("<system-reminder>")) return undefined;
  return joinTextBlocks(content).replace(REMINDERS, "").trim() || undefined;
}

/** A message of a program as a message of the user, if a person typed what it contains; any other message is returned unchanged. */
export function asTyped(message: Message): Message {
  const typed = message.role === "custom" ? typedText(message) : undefined;
  return typed === undefined ? message : { role: "user", content: typed };
}

/** True if a person typed the content of an entry: a message of the user, or one that `typedText` reads. Reads no payload. */
export function isTyped(row: { readonly role: MessageRole | null; readonly customType: string | null; readonly preview: string }): boolean {
  if (row.role === "user") return true;
  if (row.role !== "custom") return false;
  // The preview of such an entry is what was typed; those of outputs start with their tags.
  if (row.customType === "claude.command") return row.preview.startsWith("/");
  return row.customType === "claude.queued" || (row.customType === "claude.bash" && row.preview.startsWith("! "));
}

/** The rank of a typed text as a title: 3 for a request, 2 for a slash command, 1 for a shell command or "thank you", 0 for none. */
export type TitleRank = 0 | 1 | 2 | 3;

const SLASH_COMMAND = /^\/[\w:.-]+(?=\s|$)/;

/** Ranks a text as the title of a session that has none. Slash commands with at least two words after them count as requests. */
export function rankTitle(text: string): TitleRank {
  const line = text.trim();
  if (line === "") return 0;
  const command = SLASH_COMMAND.exec(line)?.[0];
  if (command !== undefined) return /\S\s+\S/.test(line.slice(command.length)) ? 3 : 2;
  return line.startsWith("! ") || /^\[[^\]]*\]$/.test(line) || isSmallTalk(line) ? 1 : 3;
}

/** Returns the one of two texts, in the order of typing, that has the higher rank as a title; the first one if their ranks are equal. */
export function betterTitle(first: string | null, next: string | null): string | null {
  if (first === null || next === null) return first ?? (next === "" ? null : next);
  return rankTitle(next) > rankTitle(first) ? next : first;
}

/** Thanks, praise or a greeting without a request. */
const THANKS =
  /^(?:(?:ok(?:ay)?|thanks?(?: you)?|thx|great|good|nice|perfect|cool|awesome|done|hi|hello|hey|danke(?: dir| sch[öo]n)?|super|prima|merci|gracias|obrigado|grazie)[\s.!,]*)+$/i;
/** Approval or a short answer. */
const GO_AHEAD =
  /^(?:ok(?:ay)?|yes|yep|yeah|no|nope|y|n|continue|go on|go ahead|proceed|next|sure|stop|wait|please|ja|nein|weiter|oui|non|s[ií]|no)[\s.!,]*$/i;
const IMAGE_ALONE = /^['"]?\/.*\.(?:png|jpe?g|gif|webp)['"]?$/i;

/** True if a text only thanks or greets, or has neither a letter nor a digit. */
export function isThanks(text: string): boolean {
  return !/[\p{L}\p{N}]/u.test(text) || THANKS.test(text);
}

/** True if a text contains no request of its own: thanks, "continue", "yes", an emoji, the path of an image. */
export function isSmallTalk(text: string): boolean {
  return text.length < 2 || isThanks(text) || GO_AHEAD.test(text) || IMAGE_ALONE.test(text);
}

/** The longest preview of what users and models wrote: a row of a wide terminal. */
const PREVIEW_CHARS = 240;

const CONVERSATION: ReadonlySet<string> = new Set(["user", "assistant", "custom"]);

/**
 * One line that describes an entry: its first words, then its tool calls as `[read src/a.ts]`; `splitPreview` takes them apart.
 *
 * @param directory The session's directory, see `describeCall`.
 */
export function previewOf(payload: EntryPayload, directory?: string | null): string {
  const isLong = payload.type === "message" && CONVERSATION.has(payload.message.role);
  return oneLine(previewText(payload, directory ?? undefined), isLong ? PREVIEW_CHARS : LINE_CHARS);
}

function previewText(payload: EntryPayload, directory: string | undefined): string {
  switch (payload.type) {
    case "message":
      return messagePreview(payload.message, directory);
    case "compaction":
      return payload.title ?? payload.shortSummary ?? summaryGist(payload.summary);
    case "branch_summary":
      return summaryGist(payload.summary);
    case "model_change":
      return payload.provider === undefined ? payload.modelId : `${payload.provider}/${payload.modelId}`;
    case "thinking_level_change":
      return payload.thinkingLevel ?? "default";
    case "context_edit":
      return payload.replacement === null ? `omits ${payload.targetId}` : `replaces ${payload.targetId}`;
    case "custom_message":
      return contentPreview(payload.content);
    case "custom":
      return payload.customType;
    case "foreign":
      return payload.originalType;
  }
}

function messagePreview(message: Message, directory: string | undefined): string {
  switch (message.role) {
    case "assistant":
      return assistantPreview(message, directory);
    case "bashExecution":
      return `$ ${message.command}`;
    case "toolResult": {
      const text = contentPreview(message.content);
      return message.isError ? `error: ${text}` : text;
    }
    case "user":
    case "custom":
      return typedText(message) ?? contentPreview(message.content);
    case "system":
      return contentPreview(message.content);
  }
}

function assistantPreview({ content, errorMessage }: AssistantMessage, directory: string | undefined): string {
  const calls = content.flatMap((block) => (block.type === "toolCall" ? [describeCall(block, { directory })] : []));
  const text = oneLine(takeOpening(content), PREVIEW_CHARS);
  if (calls.length > 0) return shareLine(text, calls, PREVIEW_CHARS);
  return text || errorMessage || thought(content) || contentPreview(content);
}

/** The start of the text of a content, at least as long as a preview: further blocks are not joined. */
function takeOpening(content: Content): string {
  if (typeof content === "string") return content;
  let text = "";
  for (const block of content) {
    if (block.type === "text") text = text === "" ? block.text : `${text}\n${block.text}`;
    if (text.length > PREVIEW_CHARS * 2) break;
  }
  return text;
}

function thought(content: readonly AssistantBlock[]): string {
  const thinking = content.find((block) => block.type === "thinking");
  return thinking === undefined ? "" : `(thinking) ${thinking.thinking}`;
}

function contentPreview(content: Content): string {
  const text = takeOpening(content);
  if (text !== "" || typeof content === "string") return text;
  return content.map(blockName).join(" ");
}

function blockName(block: ContentBlock | AssistantBlock): string {
  switch (block.type) {
    case "foreign":
      return `[${block.originalType}]`;
    case "file":
      return `[${describeFile(block)}]`;
    case "text":
    case "image":
    case "thinking":
    case "toolCall":
      return `[${block.type}]`;
  }
}
