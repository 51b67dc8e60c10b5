import type { SecretRule } from "./secret.js";
import { BARE, ESCAPES, kindByName, NAMED, NO_VALUE } from "./secret-names.js";

const NAME_HINTS = /pass|key|secret|token|pwd/i;

/** By the last name before the secret: the first one can be the word `key` itself. */
const byName = (before: string): string =>
  kindByName(before.match(/[\w.-]*(?:pass|key|secret|token|pwd)[\w-]*/gi)?.at(-1) ?? "") ?? "secret";

/** Secrets in files of settings, in connection strings and in lists of environment variables. */
export const SETTING_RULES: readonly SecretRule[] = [
  // A header of a request: X-API-Key: ...
  {
    kind: "API key",
    hints: /x-[a-z0-9-]{0,30}(?:key|token|secret)/i,
    pattern: /(\bX-[A-Z0-9-]{0,40}(?:Key|Token|Secret)\s{0,3}:\s{0,3})(?![$<{*([%])(?=[A-Z._~+/=-]{0,100}[0-9])[A-Z0-9._~+/=-]{8,}/gi,
  },
  // {"name": "DB_PASSWORD", "value": "..."} of Kubernetes and ECS, <add key="ApiKey" value="..."/> of .NET
  {
    kind: byName,
    hints: ["alue"],
    pattern: new RegExp(
      String.raw`(\b(?:name|key)${ESCAPES}["']?\s{0,3}[:=]\s{0,3}${ESCAPES}["']?[\w.:-]{0,60}(?:${NAMED}|pwd|_token)${ESCAPES}["']?\s{0,3},?\s{1,40}${ESCAPES}["']?value${ESCAPES}["']?\s{0,3}[:=]\s{0,3}${ESCAPES}["']?)${NO_VALUE}${BARE}{4,512}`,
      "gi",
    ),
  },
  {
    kind: byName,
    hints: ["alue"],
    pattern: new RegExp(
      String.raw`(\b(?:name|key)${ESCAPES}["']\s{0,3}:\s{0,3}${ESCAPES}["'][\w.:-]{0,60}(?:${NAMED}|pwd|_token)${ESCAPES}["'],${ESCAPES}["']value${ESCAPES}["']\s{0,3}:\s{0,3}${ESCAPES}["'])${NO_VALUE}${BARE}{4,512}`,
      "gi",
    ),
  },
  // <password>...</password>
  {
    kind: byName,
    hints: ["</"],
    pattern: new RegExp(String.raw`(<(?:[\w.-]{1,40}:)?[\w.-]{0,40}(?:${NAMED}|pwd)>)${NO_VALUE}[^\s<>]{4,512}(?=</)`, "gi"),
  },
  // Server=db;Uid=sa;Pwd=...;
  {
    kind: "password",
    hints: /pwd/i,
    pattern:
      /((?:^|[;"'\s])(?:Uid|User(?: ?Id)?|Username|Server|Host|Data Source|Database|Driver)\s{0,2}=[^\n;"']{1,200};(?:[^\n"']{0,300};)?\s{0,2}Pwd\s{0,2}=\s{0,2})(?![$<{*([%])[^;\s"'<>]{4,200}/gim,
  },
  // A line of .pgpass: host:port:database:user:password
  {
    kind: "password",
    hints: /:(?:\d{2,5}|\*):/,
    pattern:
      /(^(?![a-z]+:\/\/)[\w.*-]{1,100}:(?:\d{2,5}|\*):(?!\d+:)[\w.*$-]{1,63}:(?!\d+:)[\w.*@$-]{1,63}:)(?![$<{*([%\s])[^\s:]{4,200}$/gm,
  },
  // token = "...", Token: "..."
  {
    kind: "token",
    hints: ["oken", "OKEN"],
    pattern: new RegExp(
      String.raw`((?<![\w.$-])token${ESCAPES}["']?\s{0,3}(?::=|=>|[:=])\s{0,3}(${ESCAPES}["']))${NO_VALUE}[A-Za-z0-9._~+/=-]{12,512}(?=\2)`,
      "gi",
    ),
    accepts: (value) => (value.length >= 16 && /\d/.test(value) && /[a-z]/i.test(value)) || isRandomWord(value),
  },
  // STRIPE_KEY=... and SENTRY_AUTH=... in a list of environment variables
  {
    kind: (before) => (/_KEY=/.test(before) ? "API key" : "secret"),
    hints: ["_KEY=", "_AUTH=", "_SALT=", "_CREDENTIAL", "_PAT="],
    pattern: new RegExp(
      String.raw`(^[^\S\n]{0,20}(?:(?:export|ENV|set)[^\S\n]{1,3})?(?!\w{0,40}PUBLIC)[A-Z][A-Z0-9_]{1,60}_(?:KEY|AUTH|SALT|CREDENTIALS?|PAT)=["']?)${NO_VALUE}(?=[A-Za-z0-9+/_-]{0,100}[A-Za-z0-9+/]{16})(?=[A-Za-z+/_-]{0,100}\d)[A-Za-z0-9+/=_-]{16,}(?=["']?[^\S\n]*$)`,
      "gm",
    ),
  },
  // password = ... in a block of settings, without a digit: by the lines around it
  {
    kind: byName,
    hints: NAME_HINTS,
    pattern: new RegExp(
      String.raw`(^[^\S\n]{0,40}(?:[-+>]\s)?(?:[\w.-]{0,40}(?:${NAMED})|pass|pwd)[^\S\n]{0,3}[:=][^\S\n]{0,3})${NO_VALUE}(?!\w{0,40}(?:pass|secret|token|key))[A-Za-z!#?@^~+*_-]{8,128}(?=[^\S\n]*$)`,
      "gim",
    ),
    accepts: (value, text, start) => isRandomWord(value) || isAmongSettings(text, start),
  },
];

/** Lines around a line of a block that belong to it. */
const NEAR_LINES = 3;
/** A setting of an account or a connection with a plain value, as code seldom has it. */
const ACCOUNT =
  /^[^\S\n]{0,40}(?:[-+]\s)?[\w.-]{0,40}(?:user(?:_?name)?|login|host(?:name)?|port|database|dbname|server|smtp|imap|email)[^\S\n]{0,3}[:=][^\S\n]{0,3}(?:[\w-]{1,60}\.[\w.-]{1,60}|[^\s@]{1,60}@[\w.-]{1,60}|\d{2,5}|[a-z][\w-]{0,40})[^\S\n]*$/i;
const SECTION = /^\[[\w .:"-]{1,60}\]\s*$/;

/** True if the lines around a value set a user, a host or a port, or start a section of an INI file. */
function isAmongSettings(text: string, start: number): boolean {
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const isYaml = /^[^:=]*:/.test(text.slice(lineStart, start));
  const near = [...linesBefore(text, lineStart), ...linesAfter(text, start)];
  return near.some((line) => (ACCOUNT.test(line) && /^[^:=]*:/.test(line) === isYaml) || (!isYaml && SECTION.test(line)));
}

function linesBefore(text: string, lineStart: number): readonly string[] {
  const lines: string[] = [];
  for (let end = lineStart - 1; end >= 0 && lines.length < NEAR_LINES; ) {
    const from = text.lastIndexOf("\n", end - 1) + 1;
    const line = text.slice(Math.max(from, end - 200), end);
    if (line.trim() === "") break;
    lines.push(line);
    end = from - 1;
  }
  return lines;
}

function linesAfter(text: string, start: number): readonly string[] {
  const lines: string[] = [];
  for (let end = text.indexOf("\n", start); end >= 0 && lines.length < NEAR_LINES; ) {
    const next = text.indexOf("\n", end + 1);
    const line = text.slice(end + 1, Math.min(next < 0 ? text.length : next, end + 201));
    if (line.trim() === "") break;
    lines.push(line);
    end = next;
  }
  return lines;
}

/**
 * True if letters are no word of a language: six consonants in a row, less than 20 % vowels, or more than 20 % changes to capitals. True
 * for four in five random texts of 14 letters.
 */
function isRandomWord(value: string): boolean {
  const letters = value.replace(/[^A-Za-z]/g, "");
  if (letters.length < 8 || /[-_.]/.test(value)) return false;
  const vowels = letters.match(/[aeiouy]/gi)?.length ?? 0;
  const capitals = letters.match(/[a-z][A-Z]/g)?.length ?? 0;
  return /[bcdfghjklmnpqrstvwxz]{6}/i.test(letters) || vowels < letters.length * 0.2 || capitals > letters.length / 5;
}
