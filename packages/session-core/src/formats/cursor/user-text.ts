import type { JsonObject } from "../../source/json.js";

/** The text of a user message of Cursor: what a person typed, and what Cursor put around it. */
interface UserText {
  /** undefined: Cursor wrote the whole message. */
  readonly typed: string | undefined;
  /** Open files, rules, facts about the machine: for the model. Empty: none. */
  readonly context: string;
  /** When it was sent, if the text says so. */
  readonly sentAtMs: number | undefined;
}

const QUERY = /<user_query>([\s\S]*?)<\/user_query>/g;
const TIMESTAMP = /<timestamp>([^<]*)<\/timestamp>\s*/;
/** Cursor's own messages begin with a tag of several words, such as `<user_info>`, and end with a tag. */
const INJECTED = /^\s*<[a-z]+(?:_[a-z]+)+[\s>][\s\S]*<\/[a-z_]+>\s*$/;

/** Splits the text of a user message: `<user_query>` encloses what was typed. A text without tags is typed. */
export function readUserText(text: string): UserText {
  const sentAtMs = readTimestamp(TIMESTAMP.exec(text)?.[1]);
  const rest = text.replace(TIMESTAMP, "");
  const queries = [...rest.matchAll(QUERY)].map((match) => (match[1] ?? "").trim());
  if (queries.length > 0) return { typed: queries.join("\n\n"), context: rest.replace(QUERY, "").trim(), sentAtMs };
  return INJECTED.test(rest) ? { typed: undefined, context: rest.trim(), sentAtMs } : { typed: rest, context: "", sentAtMs };
}

const OFFSET = /\(UTC([+-])(\d{1,2})(?::?(\d{2}))?\)/;

/** Milliseconds of a text such as `Friday, Sep 4, 2026, 2:21 AM (UTC+8)`; undefined without a time zone. */
function readTimestamp(text: string | undefined): number | undefined {
  const [offset, sign = "+", hours = "", minutes = "00"] = OFFSET.exec(text ?? "") ?? [];
  if (text === undefined || offset === undefined) return undefined;
  const date = text.replace(OFFSET, "").replace(/^\s*[A-Za-z]+,\s*(?=[A-Za-z])/, "");
  const time = Date.parse(`${date.trim()} GMT${sign}${hours.padStart(2, "0")}${minutes}`);
  return Number.isSafeInteger(time) ? time : undefined;
}

/** What Cursor added to a prompt, as a message that is shown to the model only. */
export function toContextMessage(context: string | readonly JsonObject[]): JsonObject {
  return { role: "custom", customType: "cursor.context", display: false, content: context };
}
