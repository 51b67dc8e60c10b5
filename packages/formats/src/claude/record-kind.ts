import { isObject, type JsonObject, objectAt, stringAt } from "@bough/session-core/wire";
import { attachedBlocks } from "./attachments.js";

/**
 * The role of a record in the tree:
 *
 * | kind | record | becomes |
 * |---|---|---|
 * | `human` | `user`, typed by the user | a user message |
 * | `injected` | `user`, written by the program (see `STARTS`); an attachment with a queued prompt | a custom message |
 * | `result` | `user` with `tool_result` blocks | tool results, then its other blocks |
 * | `reply` | `assistant`: the first line of a reply | the whole reply |
 * | `boundary` | `system/compact_boundary` | with its summary: a compaction |
 * | `summary` | `user` with `isCompactSummary` without a boundary before it | a compaction |
 * | `attached` | another attachment that the model was given (see `attachedBlocks`) | a custom message, placed like noise |
 * | `noise` | other records with a uuid: progress, other attachments and `system` records, unknown types | foreign |
 * | `side` | a record without a uuid | a title, a value, or foreign |
 * | `absorbed` | a part of an earlier entry: a later line of a reply, a boundary's summary, a record written twice | nothing |
 * | `bad` | a line without a JSON object | a problem |
 */
export type RecordKind =
  | "human"
  | "injected"
  | "result"
  | "reply"
  | "boundary"
  | "summary"
  | "noise"
  | "side"
  | "absorbed"
  | "bad"
  | "attached";

// A result never starts a branch: it belongs to its call, also after reports of hooks.
export const BRANCH_STARTS: readonly RecordKind[] = ["human", "reply", "boundary", "summary"];

/** The kind of a record with a uuid, from the record alone. */
export function classifyRecord(record: JsonObject): Exclude<RecordKind, "side" | "absorbed" | "bad"> {
  switch (record.type) {
    case "user":
      return classifyUserRecord(record);
    case "assistant":
      return objectAt(record, "message") === undefined ? "noise" : "reply";
    case "system":
      return record.subtype === "compact_boundary" ? "boundary" : "noise";
    case "attachment":
      if (readQueuedPrompt(record) !== undefined) return "injected";
      return attachedBlocks(record) === undefined ? "noise" : "attached";
  }
  return "noise";
}

/** True for a record that Claude Code wrote beside the conversation: it starts no branch, and later records of its parent come after it. */
export function isNoise(kind: RecordKind | undefined): boolean {
  return kind === "noise" || kind === "attached";
}

function classifyUserRecord(record: JsonObject): "human" | "injected" | "result" | "summary" | "noise" {
  const message = objectAt(record, "message");
  if (message === undefined) return "noise";
  if (record.isCompactSummary === true) return "summary";
  if (findResultBlocks(message.content).length > 0) return "result";
  if (findOutputs(message.content).length > 0) return "injected";
  // Shown in the terminal, never sent to a model: not part of the context.
  if (record.isVisibleInTranscriptOnly === true) return "noise";
  return classifySpeaker(record, message.content);
}

/** The `tool_result` blocks of a content that have the id of a call. */
export function findResultBlocks(content: unknown): readonly JsonObject[] {
  return Array.isArray(content) ? content.filter(isResultBlock) : [];
}

export function isResultBlock(block: unknown): block is JsonObject {
  return isObject(block) && block.type === "tool_result" && typeof block.tool_use_id === "string";
}

/** The `tool_result` blocks of a content that name no call: their calls have no id either, as in redacted files. */
export function findOutputs(content: unknown): readonly JsonObject[] {
  return Array.isArray(content) ? content.filter(isOutput) : [];
}

/** True if a block is a result that names no call. */
export function isOutput(block: unknown): block is JsonObject {
  return isObject(block) && block.type === "tool_result" && typeof block.tool_use_id !== "string";
}

/** The queued prompt of an attachment; undefined for other attachments. */
export function readQueuedPrompt(record: JsonObject): unknown {
  const attachment = objectAt(record, "attachment");
  if (attachment?.type !== "queued_command") return undefined;
  const { prompt } = attachment;
  return typeof prompt === "string" || Array.isArray(prompt) ? prompt : undefined;
}

/** The original type of a record with its subtype: `progress`, `system/turn_duration`, `attachment/hook_success`. */
export function readTypeName(record: JsonObject): string {
  const { type, subtype } = record;
  if (typeof type !== "string" || type === "") return "unknown";
  const detail = type === "attachment" ? objectAt(record, "attachment")?.type : subtype;
  return typeof detail === "string" && detail !== "" ? `${type}/${detail}` : type;
}

/** The author of the text of a `user` record: the user, or the program. */
type Speaker = "human" | "injected";

/** The form of an injected text: a message of the role `custom`, which stays in the context. */
export interface InjectedKind {
  readonly customType: string;
  /** True if Claude Code showed it in the terminal. */
  readonly display: boolean;
}

/** Text of the program: reminders, expanded prompts, caveats. */
export const META: InjectedKind = { customType: "claude.meta", display: false };

/** A prompt that the user queued while the model was working, sent as an attachment. */
export const QUEUED: InjectedKind = { customType: "claude.queued", display: true };

/** The output of a tool whose call is not known. */
export const OUTPUT: InjectedKind = { customType: "claude.output", display: true };

const COMMAND: InjectedKind = { customType: "claude.command", display: true };
const BASH: InjectedKind = { customType: "claude.bash", display: true };
const INTERRUPTED: InjectedKind = { customType: "claude.interrupted", display: true };
const NOTIFICATION: InjectedKind = { customType: "claude.notification", display: true };

/**
 * Claude Code writes all messages of the role `user` as `user` records. The program wrote a text that starts with one of these:
 *
 * | starts with | customType | shown in the terminal |
 * |---|---|---|
 * | `<command-name>`, `<command-message>`, `<command-args>`, `<local-command-stdout>`, `<local-command-stderr>` | `claude.command` | yes |
 * | `<bash-input>`, `<bash-stdout>`, `<bash-stderr>` (a `!command` and what it printed) | `claude.bash` | yes |
 * | `[Request interrupted by user` | `claude.interrupted` | yes |
 * | `<task-notification>` (a background task has ended) | `claude.notification` | yes |
 * | `<local-command-caveat>`, `Caveat: The messages below were generated` | `claude.meta` | no |
 *
 * Also `claude.meta`, with any text: a record with `isMeta`, and a block that is only `<system-reminder>…</system-reminder>`.
 * Everything else is input of the user.
 */
const STARTS: readonly (readonly [start: string, kind: InjectedKind])[] = [
  ["<command-name>", COMMAND],
  ["<command-message>", COMMAND],
  ["<command-args>", COMMAND],
  ["<local-command-stdout>", COMMAND],
  ["<local-command-stderr>", COMMAND],
  ["<bash-input>", BASH],
  ["<bash-stdout>", BASH],
  ["<bash-stderr>", BASH],
  ["[Request interrupted by user", INTERRUPTED],
  ["<task-notification>", NOTIFICATION],
  ["<local-command-caveat>", META],
  ["Caveat: The messages below were generated", META],
];

/** The form of an injected text; undefined: input of the user. */
export function classifyInjected(record: JsonObject, text: string): InjectedKind | undefined {
  const start = text.trimStart();
  const byText = STARTS.find(([prefix]) => start.startsWith(prefix))?.[1];
  if (byText !== undefined) return byText;
  return record.isMeta === true || isReminder(text) ? META : undefined;
}

function isReminder(text: string): boolean {
  const trimmed = text.trim();
  return trimmed.startsWith("<system-reminder>") && trimmed.endsWith("</system-reminder>");
}

/** The author of a `user` record without tool results: injected if no block is the user's. */
function classifySpeaker(record: JsonObject, content: unknown): Speaker {
  if (classifyInjected(record, textWithoutReminders(content)) !== undefined) return "injected";
  if (!Array.isArray(content) || content.length === 0) return "human";
  return content.every(isReminderBlock) ? "injected" : "human";
}

/** The texts of a content without reminders. */
export function textWithoutReminders(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const texts = content.map((block: unknown) => (isObject(block) && block.type === "text" ? (stringAt(block, "text") ?? "") : ""));
  return texts.filter((text) => text !== "" && !isReminder(text)).join("\n");
}

export function isReminderBlock(block: unknown): boolean {
  return isObject(block) && block.type === "text" && isReminder(stringAt(block, "text") ?? "");
}
