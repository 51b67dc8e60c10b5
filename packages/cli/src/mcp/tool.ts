import { removeNulls } from "@bough/compaction";
import type { SessionMasks } from "@bough/formats/secrets";
import type { Session, SessionId, Store } from "@bough/session-core";
import { findNearest, pairStart } from "@bough/session-core/view";
import { toIsoTime } from "@bough/session-core/wire";
import * as z from "zod";
import type { Io } from "../terminal/io.js";

/** A tool of the server. Its answer is text for a model. */
export interface McpTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** JSON schema of its input. */
  readonly inputSchema: Record<string, unknown>;
  /** Answers a call. `input` is validated here. @throws {InvalidInputError | BoughError} the reason, for the model. */
  readonly answer: (source: McpSource, input: unknown) => Promise<string>;
}

/** The store that the tools read. */
export interface McpSource {
  readonly store: Store;
  /** Masks the secrets of answers. undefined: they are kept. */
  readonly masks: SessionMasks | undefined;
  /** Where the server runs: for the paths of files. */
  readonly here: Pick<Io, "cwd" | "env" | "home">;
}

/** The input of a call does not fit the schema of its tool. */
export class InvalidInputError extends Error {
  override readonly name = "InvalidInputError";
}

/** Defines a tool. Members that are null count as left out, because some models send null for them. */
export function defineTool<T>(
  about: Pick<McpTool, "name" | "title" | "description">,
  schema: z.ZodType<T>,
  answer: (source: McpSource, input: T) => Promise<string>,
): McpTool {
  const inputSchema = z.toJSONSchema(schema, { io: "input" });
  const members = Object.keys(inputSchema.properties ?? {});
  return {
    ...about,
    inputSchema,
    answer: async (source, input) => {
      const parsed = schema.safeParse(removeNulls(input));
      if (parsed.success) return answer(source, parsed.data);
      throw new InvalidInputError(`${describeIssue(parsed.error, members)} Nothing was read.`);
    },
  };
}

/** The first thing wrong with an input. A member of an unknown name is answered with the nearest one, or with all there are. */
function describeIssue({ issues: [issue] }: z.ZodError, members: readonly string[]): string {
  if (issue?.code === "unrecognized_keys") {
    const name = issue.keys[0] ?? "";
    const nearest = findNearest(name, members);
    return `There is no ${JSON.stringify(cutText(name, 60))}. ${nearest === undefined ? `There are ${members.join(", ")}.` : `Did you mean ${nearest}?`}`;
  }
  const where = issue === undefined || issue.path.length === 0 ? "The input" : issue.path.join(".");
  return `${where}: ${issue?.message ?? "is not valid"}.`;
}

/** Input members that several tools have. */
export const INPUT = {
  session: z.string().min(1).max(300).describe("Id of a session, its beginning, or its title."),
  entry: z.string().min(1).max(200).default("@leaf").describe("The end of the path: id, its beginning, a label, @leaf."),
  maxChars: z.int().min(500).max(100_000).default(12_000).describe("The most characters of the answer."),
} as const;

/**
 * Opens the session that a model named. The titles in the error are masked as in answers.
 *
 * @throws {SessionNotFoundError | AmbiguousNameError}
 */
export async function openNamed({ store, masks }: McpSource, name: string): Promise<Session> {
  const mask = masks && ((title: string, id: SessionId) => masks.maskTitle(title, () => store.openSession(id)));
  return store.openSession((await store.resolveSession(name, mask)).id);
}

/** The beginning of lines that fit, and what to do for the rest. */
export function cutLines(lines: readonly string[], maxChars: number, rest: (left: number) => string): string {
  let used = 0;
  const shown = lines.findIndex((line) => {
    used += line.length + 1;
    return used > maxChars;
  });
  if (shown < 0) return lines.join("\n");
  const kept = shown === 0 ? [cutText(lines[0] ?? "", maxChars)] : lines.slice(0, shown);
  const left = lines.length - kept.length;
  return left === 0 ? kept.join("\n") : [...kept, rest(left)].join("\n");
}

/** Returns the beginning of a text, at most `maxChars` characters, without half of a surrogate pair. */
function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return `${text.slice(0, pairStart(text, maxChars - 1))}…`;
}

/** A time for a model, to the minute, in UTC. */
export function minute(atMs: number): string {
  return toIsoTime(atMs).slice(0, 16).replace("T", " ");
}
