import type { EntryId, FileLists, SessionId } from "@bough/session-core";
import { cleanText, shortLine } from "@bough/session-core/internals";
import { z } from "zod";

/** Which entries of a path a summary stands for, both ends included. */
export interface CheckpointRange {
  readonly fromEntryId: EntryId;
  readonly toEntryId: EntryId;
  readonly entries: number;
  /** Entries among them that a model read. */
  readonly messages: number;
}

/** A summary that counts on a path, as screens and files show it. The idea and the word are Copilot CLI's. */
export interface Checkpoint {
  /** 1 for the oldest of its path. */
  readonly number: number;
  readonly sessionId: SessionId;
  /** The compaction. */
  readonly entryId: EntryId;
  /** The summary's own title, or else its short form or first words; one line. */
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly createdAtMs: number;
  readonly trigger: string | null;
  readonly tokensBefore: number | null;
  readonly tokensAfter: number | null;
  /** null: it stands for nothing that an earlier summary does not stand for. */
  readonly covers: CheckpointRange | null;
  readonly files: FileLists;
  readonly summary: string;
}

/** Says that a file is ours, and which form it has. */
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
 * A checkpoint as the text of its file: a front part, one `name: value` a line, then the title and the summary in
 * Markdown. Each value is JSON on one line (which YAML reads too), so no text of a session can end the front part.
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
 * Reads the text of a checkpoint's file back; also one whose line ends an editor changed.
 *
 * @returns a checkpoint, or in words why it is none.
 */
export function parseCheckpoint(text: string, number: number): Checkpoint | string {
  const [, front, body = ""] = /^---\r?\n([\s\S]*?)\r?\n---(?:\r?\n([\s\S]*))?$/.exec(text) ?? [];
  if (front === undefined) return "it has no front part";
  const judged = frontSchema.safeParse(parseFront(front));
  if (!judged.success) {
    const [issue] = judged.error.issues;
    return `its front part is not one of ours (${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""})`;
  }
  return toCheckpoint(judged.data, number, body);
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
    // The heading is the title once more.
    summary: body.replace(/^\s*# [^\n]*\n/, "").trim(),
  };
}

function parseFront(front: string): Record<string, unknown> {
  const values: Record<string, unknown> = Object.create(null);
  for (const line of front.split(/\r?\n/)) {
    const [, name, json] = /^(\w+): (.*)$/.exec(line) ?? [];
    if (name !== undefined && json !== undefined) values[name] = tryParseJson(json);
  }
  return values;
}

/** undefined: it is no JSON, and the schema says that the member is missing. */
function tryParseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

/** JSON leaves three characters as they are that YAML and some editors take for the end of a line. */
function formatJsonLine(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u0085\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A text on one line, as a title. */
function joinLines(text: string): string {
  return shortLine(text, Number.POSITIVE_INFINITY);
}

/** null: a time that no calendar has. */
export function formatIsoTime(ms: number): string | null {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999 || date.getUTCFullYear() < 0 ? null : date.toISOString();
}

/** What a file of this name can be: a checkpoint has a number of at least three digits, then a title. */
const NAME = /^(\d{3,9})-.+\.md$/;

/** Longest title inside a file name, in characters: names are for reading, and 255 bytes are the limit of most file systems. */
const MAX_SLUG = 60;

/**
 * The name of a checkpoint's file: `NNN-title.md`, Copilot CLI's form. Only small Latin letters, digits and dashes come
 * from the title, so no title leaves the folder, hides a file, or means something on any file system.
 *
 * @example
 * checkpointName(3, "Mending the Parser!"); // "003-mending-the-parser.md"
 */
export function makeFileName(number: number, title: string): string {
  return `${String(number).padStart(3, "0")}-${toSlug(title)}.md`;
}

/** The number in a file's name; null: no checkpoint has such a name. */
export function parseFileNumber(name: string): number | null {
  const [, digits] = NAME.exec(name) ?? [];
  return digits === undefined ? null : Number(digits);
}

/** What another writer holds while it writes the file of a number, and the file before it is complete. */
export function makeClaimName(number: number): string {
  return `.${String(number).padStart(3, "0")}.tmp`;
}

function toSlug(title: string): string {
  const words = title
    // A title is short; a long one need not be taken apart to its end.
    .slice(0, 1_000)
    // Letters with marks become the letter and the mark, which then goes: "é" is "e".
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  const slug = (words ?? []).join("-").slice(0, MAX_SLUG).replace(/-$/, "");
  return slug === "" ? "checkpoint" : slug;
}
