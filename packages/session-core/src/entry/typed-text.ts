import { isSmallTalk } from "../text/small-talk.js";
import type { Message, MessageRole } from "./message.js";
import { joinTextBlocks } from "./text.js";

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
