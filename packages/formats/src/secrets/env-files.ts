import type { Message, ToolCallBlock } from "@bough/session-core";
import { findCommand, joinTextBlocks, listCallTouches } from "@bough/session-core/view";
import { isStandIn } from "./find-secrets.js";
import type { FoundSecret } from "./secret.js";

const ENV_NAME = String.raw`\.env(?:rc|(?:\.(?!example|sample|template|dist|defaults?)[\w-]+){0,3})`;
const IS_ENV_FILE = new RegExp(`(?:^|[/\\\\])${ENV_NAME}$`);
const NAMES_ENV_FILE = new RegExp(`(?<![\\w.])${ENV_NAME}(?![\\w.-])`);
/** A file that pi or another agent put into a message of the user. */
const ATTACHED_ENV_FILE = new RegExp(`<(?:file|document)\\b[^<>\\n]{0,200}?${ENV_NAME}["']`);

/** True if a call reads or writes a file of environment variables; files of examples (`.env.example`) do not count. */
export function usesEnvFile(call: ToolCallBlock): boolean {
  const command = findCommand(call);
  if (command !== undefined) return NAMES_ENV_FILE.test(command.text);
  return listCallTouches(call).some(({ path }) => IS_ENV_FILE.test(path));
}

/** True if the texts of a message contain a file of environment variables. */
export function showsEnvFile(message: Message): boolean {
  if (message.role === "bashExecution") return NAMES_ENV_FILE.test(message.command);
  return message.role === "user" && ATTACHED_ENV_FILE.test(joinTextBlocks(message.content));
}

// A number of a line, the mark of a diff, the name of the file as grep prints it.
const BEFORE = String.raw`^[^\S\n]{0,20}(?:[\w./-]{0,200}\.env[\w.-]{0,40}:)?(?:\d{1,6}[→\t|:-][^\S\n]?)?(?:[+-][^\S\n]{0,3}(?:\d{1,6}[^\S\n])?)?`;
const ASSIGNMENT = new RegExp(
  String.raw`(${BEFORE}(?:export[^\S\n]{1,3})?[A-Za-z_][\w.]{0,100}[^\S\n]{0,3}=[^\S\n]{0,3}["']?)([^\s"'\\]+(?:[^\n"'\\]*[^\s"'\\])?)`,
  "gm",
);
/** Values that every developer knows. */
const HARMLESS =
  /^(?:true|false|yes|no|on|off|null|none|\d{1,6}|production|development|dev|test|testing|staging|local|localhost|debug|info|warn|error|utf-?8|\[.*|[$<{].*)$/i;

/** The values of the lines `NAME=value` of a file of environment variables, also with numbers of lines or marks of a diff. */
export function findEnvValues(text: string): readonly FoundSecret[] {
  if (!text.includes("=")) return [];
  const found: FoundSecret[] = [];
  for (const { 1: before = "", 2: value = "", index } of text.matchAll(ASSIGNMENT)) {
    const start = index + before.length;
    if (!HARMLESS.test(value) && !isStandIn(value)) found.push({ start, end: start + value.length, kind: "value of an .env file" });
  }
  return found;
}
