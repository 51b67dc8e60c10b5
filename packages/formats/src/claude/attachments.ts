import { isObject, type JsonObject, objectAt, stringAt, toContentBlock, without } from "@bough/session-core/wire";
import { programReads } from "../source/payloads.js";

/** The custom type of a message with the content of an attachment. */
export const ATTACHED = { customType: "claude.attachment", display: false };

/**
 * Attachments that describe Claude Code itself: its tools, agents, skills, instructions, model, and what is left of a budget. It writes them anew at
 * each start, and to another program they are wrong, so they are no part of the conversation.
 */
const OWN_STATE: ReadonlySet<unknown> = new Set([
  "agent_listing_delta",
  "auto_mode",
  "budget_usd",
  "command_permissions",
  "context_efficiency",
  "date",
  "date_change",
  "deferred_tools_delta",
  "environment",
  "instructions",
  "mcp_instructions_delta",
  "model",
  "output_style",
  "output_token_usage",
  "prompt_snapshot",
  "remote_session_change",
  "session_context",
  "skill_listing",
  "task_reminder",
  "todo_reminder",
  "token_usage",
  "total_tokens_reminder",
  "ultrathink_effort",
]);

/**
 * The blocks that the model was given for an attachment: a file that the user mentioned, lines that were selected in an editor, what a hook added.
 * undefined: nothing, or the state of Claude Code itself. Versions from about 2.1.300 on write them (`rendered`); for those before they are made
 * here from the attachment as 2.1.197 makes them (`MAKERS`).
 */
export function attachedBlocks(record: JsonObject): readonly JsonObject[] | undefined {
  const attachment = objectAt(record, "attachment");
  const type = attachment === undefined ? undefined : stringAt(attachment, "type");
  if (attachment === undefined || type === undefined || OWN_STATE.has(type)) return undefined;
  const { rendered } = record;
  const blocks = Array.isArray(rendered) ? rendered.flatMap(toRenderedBlocks) : (MAKERS.get(type)?.(attachment) ?? []);
  return blocks.length === 0 ? undefined : blocks;
}

function toRenderedBlocks(message: unknown): readonly JsonObject[] {
  const content = isObject(message) ? message.content : undefined;
  if (typeof content === "string") return content === "" ? [] : [textBlock(content)];
  return Array.isArray(content) ? content.map(toContentBlock) : [];
}

/** The message of an attachment that the model was given, with the attachment as its details. A file that the user mentioned was read. */
export function attachedMessage(record: JsonObject): JsonObject {
  const { attachment } = record;
  const read = isObject(attachment) && attachment.type === "file" ? stringAt(attachment, "filename") : undefined;
  const reads = programReads(read === undefined ? [] : [{ file_path: read }]);
  return { role: "custom", ...ATTACHED, content: attachedBlocks(record) ?? [], details: attachment, ...reads };
}

/** The members of a record of an attachment beside those that its message has: `rendered` is left out if the texts of the message say all of it. */
export function attachmentMembers(record: JsonObject): JsonObject {
  const { rendered } = record;
  const isText = (message: unknown) =>
    isObject(message) && Object.keys(message).join() === "content" && typeof message.content === "string";
  return Array.isArray(rendered) && rendered.every(isText) ? without(record, ["rendered"]) : record;
}

/** The record of a message of an attachment. `content`: as the API takes it. Versions that make the texts themselves ignore `rendered`. */
export function attachmentRecord(attachment: JsonObject, content: unknown): JsonObject {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [textBlock(String(content))];
  const rendered = blocks.map((block) => ({ content: isObject(block) && block.type === "text" ? block.text : [block] }));
  return { type: "attachment", attachment, rendered };
}

const textBlock = (text: string): JsonObject => ({ type: "text", text });

const remark = (text: string): JsonObject => textBlock(`<system-reminder>\n${text}\n</system-reminder>`);

/** A tool that Claude Code called itself, and its result. */
function ownCall(tool: string, input: JsonObject, result: string): readonly JsonObject[] {
  const call = `Called the ${tool} tool with the following input: ${JSON.stringify(input)}`;
  return [remark(call), remark(`Result of calling the ${tool} tool:\n${result}`)];
}

type Maker = (attachment: JsonObject) => readonly JsonObject[];

const text = (from: JsonObject | undefined, key: string): string => (from === undefined ? "" : (stringAt(from, key) ?? ""));

/** By the type of the attachment. One without its text makes nothing. */
const MAKERS: ReadonlyMap<string, Maker> = new Map<string, Maker>([
  ["file", readFile],
  ["directory", listDirectory],
  [
    "edited_text_file",
    (given) => noteOf(text(given, "snippet"), `${text(given, "filename")} was modified by the user or by a linter; the changes`),
  ],
  ["nested_memory", (given) => noteOf(text(objectAt(given, "content"), "content"), `Contents of ${text(given, "path")}`)],
  ["selected_lines_in_ide", (given) => noteOf(text(given, "content"), `The user selected ${linesOf(given)} of ${text(given, "filename")}`)],
  ["opened_file_in_ide", (given) => [remark(`The user opened the file ${text(given, "filename")} in the IDE.`)]],
  ["plan_file_reference", (given) => noteOf(text(given, "planContent"), `Plan contents of ${text(given, "planFilePath")}`)],
  ["hook_additional_context", (given) => hookNote(given, "additional context", hookContext(given))],
  ["hook_success", (given) => (SENT_HOOKS.has(given.hookEvent) ? hookNote(given, "success", text(given, "content")) : [])],
]);

/** The hooks whose output is sent to the model. */
const SENT_HOOKS: ReadonlySet<unknown> = new Set(["SessionStart", "UserPromptSubmit", "UserPromptExpansion"]);

function listDirectory(attachment: JsonObject): readonly JsonObject[] {
  const path = text(attachment, "path");
  return ownCall("Bash", { command: `ls ${path}`, description: `Lists files in ${path}` }, text(attachment, "content"));
}

function readFile(attachment: JsonObject): readonly JsonObject[] {
  const content = objectAt(attachment, "content");
  const file = content === undefined ? undefined : objectAt(content, "file");
  if (content === undefined || file === undefined) return [];
  const path = text(attachment, "filename");
  if (content.type === "image") {
    const source = { type: "base64", media_type: file.type, data: file.base64 };
    return [remark(`The user attached the image ${path}`), toContentBlock({ type: "image", source })];
  }
  const body = stringAt(file, "content");
  if (content.type !== "text" || body === undefined) return [];
  const first = typeof file.startLine === "number" ? file.startLine : 1;
  const lines = body.split("\n").map((line, at) => `${first + at}\t${line}`);
  return ownCall("Read", { file_path: path }, lines.join("\n"));
}

function noteOf(body: string, heading: string): readonly JsonObject[] {
  return body === "" ? [] : [remark(`${heading}:\n${body}`)];
}

const linesOf = ({ lineStart, lineEnd }: JsonObject): string => `lines ${String(lineStart)} to ${String(lineEnd)}`;

function hookContext({ content }: JsonObject): string {
  return Array.isArray(content) ? content.filter((part) => typeof part === "string").join("\n") : "";
}

function hookNote(attachment: JsonObject, outcome: string, body: string): readonly JsonObject[] {
  return body === "" ? [] : [remark(`${text(attachment, "hookName")} hook ${outcome}: ${body}`)];
}
