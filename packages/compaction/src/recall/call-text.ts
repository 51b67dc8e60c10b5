import type { ToolCallBlock } from "@bough/session-core";
import { findTextEdits } from "@bough/session-core/view";

/** The longest argument in the line of the call, in UTF-16 code units. */
const SHORT = 160;

/**
 * A tool call as text: its name and short arguments on one line, then each long argument with its line breaks. Of an edit, the new text
 * comes before the old one, because readers and excerpts take the first.
 *
 * @example
 * formatCall({ type: "toolCall", id: "c", name: "write", arguments: { path: "a.ts", content: "one\ntwo" } });
 * // (calls write) path: a.ts
 * // content:
 * // one
 * // two
 */
export function formatCall({ name, arguments: args }: ToolCallBlock): string {
  const found = findTextEdits(args);
  const others = Object.entries(args).filter(([key]) => found?.names.includes(key) !== true);
  const given = [...others.flatMap(([key, value]) => listArguments(key, value)), ...(found === undefined ? [] : listEdits(found))];
  const short = given.filter(isShort).map(({ key, text }) => `${key}: ${text}`);
  const long = given.filter((one) => !isShort(one)).map(({ key, text }) => `${key}:\n${text}`);
  return [`(calls ${name}) ${short.join(", ")}`.trimEnd(), ...long].join("\n");
}

interface Argument {
  readonly key: string;
  readonly text: string;
}

function isShort({ text }: Argument): boolean {
  return text.length <= SHORT && !text.includes("\n");
}

function listEdits({ edits, names }: NonNullable<ReturnType<typeof findTextEdits>>): readonly Argument[] {
  const [first = "edit", second = "old text"] = names;
  // A single edit is two arguments, of which the first is the old text; several are the items of one.
  const isSingle = names.length === 2;
  return edits.flatMap(({ before, after, rest }, at) => [
    ...Object.entries(rest).flatMap(([key, value]) => listArguments(`${first}[${at}].${key}`, value)),
    { key: isSingle ? second : `${first}[${at}] new text`, text: withBreak(after) },
    { key: isSingle ? first : `${first}[${at}] old text`, text: withBreak(before) },
  ]);
}

/** Texts of an edit are always below their name. */
function withBreak(text: string): string {
  return text.includes("\n") ? text : `${text}\n`;
}

/** The texts inside an argument, each with the path to it. A model wrote them, so they may have any shape. */
function listArguments(key: string, value: unknown): readonly Argument[] {
  if (typeof value === "string") return [{ key, text: value }];
  if (typeof value !== "object" || value === null) return value === undefined ? [] : [{ key, text: String(value) }];
  const members = Object.entries(value);
  if (members.length === 0) return [{ key, text: Array.isArray(value) ? "[]" : "{}" }];
  return members.flatMap(([name, member]) => listArguments(Array.isArray(value) ? `${key}[${name}]` : `${key}.${name}`, member));
}
