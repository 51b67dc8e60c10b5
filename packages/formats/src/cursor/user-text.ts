import type { JsonObject } from "@bough/session-core/wire";

/** The text of a user message of Cursor: the text that a person typed, and the text that Cursor put around it. */
interface UserText {
  /** undefined: Cursor wrote the whole message. */
  readonly typed: string | undefined;
  /** Open files, rules, facts about the machine: for the model. Empty: none. */
  readonly context: string;
  /** The time of sending, if the text has it, in milliseconds since 1970. */
  readonly sentAtMs: number | undefined;
}

const OPEN = "<user_query>";
const CLOSE = "</user_query>";
const TIMESTAMP = /<timestamp>([^<]*)<\/timestamp>\s*/;
/** Cursor's own messages begin with a tag of several words, such as `<user_info>`, and end with a tag. */
const INJECTED = /^\s*<[a-z]+(?:_[a-z]+)+[\s>][\s\S]*<\/[a-z_]+>\s*$/;

/** Splits the text of a user message: `<user_query>` encloses the typed text. A text without tags was typed. */
function readUserText(text: string): UserText {
  const sentAtMs = readTimestamp(TIMESTAMP.exec(text)?.[1]);
  const rest = text.replace(TIMESTAMP, "");
  const { queries, others } = splitQueries(rest);
  if (queries.length > 0) return { typed: queries.join("\n\n"), context: others.trim(), sentAtMs };
  return INJECTED.test(rest) ? { typed: undefined, context: rest.trim(), sentAtMs } : { typed: rest, context: "", sentAtMs };
}

/** Not by one regular expression: its cost would be quadratic for a text of many opening tags. */
function splitQueries(text: string): { readonly queries: readonly string[]; readonly others: string } {
  const queries: string[] = [];
  let others = "";
  let at = 0;
  for (;;) {
    const open = text.indexOf(OPEN, at);
    const close = open === -1 ? -1 : text.indexOf(CLOSE, open);
    if (close === -1) return { queries, others: others + text.slice(at) };
    queries.push(text.slice(open + OPEN.length, close).trim());
    others += text.slice(at, open);
    at = close + CLOSE.length;
  }
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

/** Returns the messages of a prompt: the typed text, then Cursor's additions. `onSent` gets the time of the prompt. */
export function userMessages(blocks: readonly JsonObject[], onSent: (ms: number | undefined) => void): readonly JsonObject[] {
  const typed: JsonObject[] = [];
  const added: JsonObject[] = [];
  for (const block of blocks) {
    if (block.type !== "text" || typeof block.text !== "string") {
      typed.push(block);
      continue;
    }
    const text = readUserText(block.text);
    onSent(text.sentAtMs);
    if (text.typed !== undefined) typed.push({ ...block, text: text.typed });
    if (text.context !== "") added.push({ ...block, text: text.context });
  }
  const user = typed.length > 0 || added.length === 0 ? [{ role: "user", content: typed }] : [];
  return added.length === 0 ? user : [...user, { role: "custom", customType: "cursor.context", display: false, content: added }];
}
