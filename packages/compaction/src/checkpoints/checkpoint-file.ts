import { z } from "zod";
import { cleanText } from "../text/clean-text.js";
import type { Checkpoint } from "./checkpoint.js";

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
export function checkpointText(checkpoint: Checkpoint): string {
  const front = Object.entries(frontOf(checkpoint)).map(([name, value]) => `${name}: ${jsonLine(value)}`);
  return ["---", ...front, "---", "", `# ${lineOf(checkpoint.title)}`, "", cleanText(checkpoint.summary), ""].join("\n");
}

function frontOf(checkpoint: Checkpoint): Front {
  const { sessionId, entryId, title, createdAtMs, trigger, tokensBefore, tokensAfter, covers, files } = checkpoint;
  return {
    bough: FORM,
    session: sessionId,
    entry: entryId,
    title: lineOf(title),
    created: isoOf(createdAtMs),
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
export function readCheckpointText(text: string, number: number): Checkpoint | string {
  const [, front, body = ""] = /^---\r?\n([\s\S]*?)\r?\n---(?:\r?\n([\s\S]*))?$/.exec(text) ?? [];
  if (front === undefined) return "it has no front part";
  const judged = frontSchema.safeParse(valuesIn(front));
  if (!judged.success) {
    const [issue] = judged.error.issues;
    return `its front part is not one of ours (${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""})`;
  }
  return checkpointOf(judged.data, number, body);
}

function checkpointOf(front: Front, number: number, body: string): Checkpoint {
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

function valuesIn(front: string): Record<string, unknown> {
  const values: Record<string, unknown> = Object.create(null);
  for (const line of front.split(/\r?\n/)) {
    const [, name, json] = /^(\w+): (.*)$/.exec(line) ?? [];
    if (name !== undefined && json !== undefined) values[name] = parsed(json);
  }
  return values;
}

/** undefined: it is no JSON, and the schema says that the member is missing. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

/** JSON leaves three characters as they are that YAML and some editors take for the end of a line. */
function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u0085\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A text on one line, as a title. */
export function lineOf(text: string): string {
  return cleanText(text).replace(/\s+/g, " ").trim();
}

/** null: a time that no calendar has. */
export function isoOf(ms: number): string | null {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999 || date.getUTCFullYear() < 0 ? null : date.toISOString();
}
