import type { EntryId, FileLists, SessionId } from "@bough/session-core";
import { cleanText, shortLine } from "@bough/session-core/view";
import { parseJson } from "@bough/session-core/wire";
import * as z from "zod";

/** The range of entries that a summary covers, both ends included. */
export interface CheckpointRange {
  readonly fromEntryId: EntryId;
  readonly toEntryId: EntryId;
  readonly entries: number;
  /** Entries among them that a model read. */
  readonly messages: number;
}

/** A compaction of a path in the form for screens and files. */
export interface Checkpoint {
  /** 1 for the oldest of its path. */
  readonly number: number;
  readonly sessionId: SessionId;
  /** The compaction entry. */
  readonly entryId: EntryId;
  /** The summary's title, else its short form or first sentence; one line. */
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly createdAtMs: number;
  readonly trigger: string | null;
  readonly tokensBefore: number | null;
  readonly tokensAfter: number | null;
  /** null: it covers nothing that an earlier summary does not cover. */
  readonly covers: CheckpointRange | null;
  readonly files: FileLists;
  readonly summary: string;
}

/** Identifies the files of this package and their version. */
const FORM = "checkpoint-1";

const tokens = z.number().nonnegative().nullable();
const frontSchema = z.object({
  bough: z.literal(FORM),
  session: z.string().min(1),
  entry: z.string().min(1),
  title: z.string(),
  created: z.iso.datetime({ precision: 3 }).nullable(),
  trigger: z.string().nullable(),
  tokensBefore: tokens,
  tokensAfter: tokens,
  covers: z.object({ fromEntryId: z.string(), toEntryId: z.string(), entries: z.number(), messages: z.number() }).readonly().nullable(),
  readFiles: z.array(z.string()).readonly(),
  modifiedFiles: z.array(z.string()).readonly(),
});
type Front = z.output<typeof frontSchema>;

/**
 * The text of a checkpoint's file: front matter with one `name: value` a line, then title and summary in Markdown. Each
 * value is JSON on one line, which is also YAML, so that no text can end the front matter.
 */
export function formatCheckpoint(checkpoint: Checkpoint): string {
  const front = Object.entries(buildFront(checkpoint)).map(([name, value]) => `${name}: ${formatJsonLine(value)}`);
  return ["---", ...front, "---", "", `# ${joinLines(checkpoint.title)}`, "", cleanText(checkpoint.summary), ""].join("\n");
}

function buildFront(checkpoint: Checkpoint): Front {
  const { sessionId, entryId, title, createdAtMs, trigger, tokensBefore, tokensAfter, covers, files } = checkpoint;
  return {
    bough: FORM,
    session: sessionId,
    entry: entryId,
    title: joinLines(title),
    created: formatIsoTime(createdAtMs),
    trigger,
    tokensBefore,
    tokensAfter,
    covers,
    readFiles: files.readFiles,
    modifiedFiles: files.modifiedFiles,
  };
}

/**
 * Parses the text of a checkpoint's file; also with line ends changed by an editor.
 *
 * @returns a checkpoint, or why the text is not one.
 */
export function parseCheckpoint(text: string, number: number): Checkpoint | string {
  const [, front, body = ""] = /^---\r?\n([\s\S]*?)\r?\n---(?:\r?\n([\s\S]*))?$/.exec(text) ?? [];
  if (front === undefined) return "it has no front matter";
  const parsed = frontSchema.safeParse(parseFront(front));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return `its front matter is not valid (${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""})`;
  }
  return toCheckpoint(parsed.data, number, body);
}

function toCheckpoint(front: Front, number: number, body: string): Checkpoint {
  const { session, entry, title, created, trigger, tokensBefore, tokensAfter, covers, readFiles, modifiedFiles } = front;
  return {
    number,
    sessionId: session,
    entryId: entry,
    title,
    createdAtMs: created === null ? 0 : Date.parse(created),
    trigger,
    tokensBefore,
    tokensAfter,
    covers,
    files: { readFiles, modifiedFiles },
    // The heading repeats the title.
    summary: body.replace(/^\s*# [^\n]*\n/, "").trim(),
  };
}

function parseFront(front: string): Record<string, unknown> {
  const values: Record<string, unknown> = Object.create(null);
  for (const line of front.split(/\r?\n/)) {
    const [, name, json] = /^(\w+): (.*)$/.exec(line) ?? [];
    // What is not JSON is undefined; the schema then reports the field as missing.
    if (name !== undefined && json !== undefined) values[name] = parseJson(json);
  }
  return values;
}

/** Escapes three characters that JSON allows and that YAML and some editors treat as line ends. */
function formatJsonLine(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u0085\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A text on one line. */
function joinLines(text: string): string {
  return shortLine(text, Number.POSITIVE_INFINITY);
}

/** null: the time is outside of the years 0 to 9999. */
export function formatIsoTime(ms: number): string | null {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999 || date.getUTCFullYear() < 0 ? null : date.toISOString();
}

/** The file name of a checkpoint: a number of at least three digits and a title. */
const NAME = /^(\d{3,9})-.+\.md$/;

/** Longest title in a file name, in characters; most file systems allow 255 bytes. */
const MAX_SLUG = 60;

/**
 * The name of a checkpoint's file, `NNN-title.md`. Only lower-case Latin letters, digits and dashes of the title are
 * used, so that no title names another folder, a hidden file or a reserved name.
 *
 * @example
 * makeFileName(3, "Mending the Parser!"); // "003-mending-the-parser.md"
 */
export function makeFileName(number: number, title: string): string {
  return `${String(number).padStart(3, "0")}-${toSlug(title)}.md`;
}

/** The number in a file name; null: not the name of a checkpoint. */
export function parseFileNumber(name: string): number | null {
  const [, digits] = NAME.exec(name) ?? [];
  return digits === undefined ? null : Number(digits);
}

/** The temporary file that reserves a number while its checkpoint is written. */
export function makeClaimName(number: number): string {
  return `.${String(number).padStart(3, "0")}.tmp`;
}

function toSlug(title: string): string {
  const words = title
    // Bounds the work for a long title.
    .slice(0, 1_000)
    // Splits accented letters into letter and accent, and removes the accent: "é" becomes "e".
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  const slug = (words ?? []).join("-").slice(0, MAX_SLUG).replace(/-$/, "");
  return slug === "" ? "checkpoint" : slug;
}
