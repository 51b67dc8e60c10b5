import type { Session } from "@bough/session-core";
import type { ToolSet } from "ai";
import { z } from "zod";
import { AiSdkMissingError } from "../errors/recall-errors.js";
import { describeText } from "./describe-text.js";
import { offerRecall } from "./offers-recall.js";
import { existing, rangeText } from "./range-text.js";
import { searchText } from "./search-text.js";
import { describeInput, expandInput, searchInput } from "./tool-inputs.js";

/** A tool for a model, whatever the agent's framework. */
export interface RecallTool {
  readonly name: "recall_search" | "recall_describe" | "recall_expand";
  readonly description: string;
  /** JSON schema of its input. */
  readonly inputSchema: Record<string, unknown>;
  /** Runs it; what it gives is the result for the model. A wrong input is told in one line, and nothing is thrown for it. */
  readonly execute: (input: unknown) => Promise<string>;
}

/** The three tools, as they are and for the AI SDK. */
export interface RecallTools {
  readonly definitions: readonly RecallTool[];
  /** @throws {AiSdkMissingError} the package `ai` is not installed. */
  readonly aiSdk: () => Promise<ToolSet>;
}

/** How much an answer may hold. */
export interface RecallOptions {
  /** Characters of one answer of `recall_expand`; default 12,000. What is cut can be asked for. */
  readonly maxChars?: number | undefined;
}

const MAX_CHARS = 12_000;

/**
 * What lets a model look up what was summarised on the session's current path, so that nothing compacted is out of reach:
 * search it, describe a summary and what it covers, read the entries word for word. From then on the summaries of
 * compactors of this handle name the tools.
 *
 * @example
 * const { definitions } = recallTools(session);
 * const answer = await definitions[0].execute({ query: "lexer tabs" });
 */
export function recallTools(session: Session, { maxChars = MAX_CHARS }: RecallOptions = {}): RecallTools {
  offerRecall(session);
  const definitions = [searchTool(session), describeTool(session), expandTool(session, maxChars)];
  return { definitions, aiSdk: async () => aiSdkTools(definitions) };
}

function searchTool(session: Session): RecallTool {
  const description =
    "Find words in the part of this conversation that was summarised and is no longer in your context: exact error messages, commands, decisions, file names. Gives entry ids with the surroundings of each match. Use it before you ask the user again or guess.";
  return toolOf("recall_search", description, searchInput, ({ query, limit }) => searchText(session, query, limit));
}

function describeTool(session: Session): RecallTool {
  const description =
    "List the summaries that stand for earlier parts of this conversation, or describe one: which entries it covers, what the user asked there, which files were read and modified. Use it to find out where to look.";
  return toolOf("recall_describe", description, describeInput, ({ summary }) => describeText(session, summary));
}

function expandTool(session: Session, maxChars: number): RecallTool {
  const description =
    "Read earlier entries of this conversation word for word, tool output included, by the ids that summaries and recall_search give. Long ranges come in pieces; the answer says how to continue.";
  return toolOf("recall_expand", description, expandInput, async ({ from, to = from, around, offset }) => {
    const missing = (await existing(session, from)) ?? (await existing(session, to));
    return missing ?? rangeText(session, { from, to, around, offset, maxChars });
  });
}

function toolOf<T>(name: RecallTool["name"], description: string, schema: z.ZodType<T>, run: (input: T) => Promise<string>): RecallTool {
  return {
    name,
    description,
    inputSchema: z.toJSONSchema(schema, { io: "input" }),
    execute: async (input) => {
      const judged = schema.safeParse(input);
      if (judged.success) return run(judged.data);
      const [issue] = judged.error.issues;
      return `The input of ${name} is not valid: ${[...(issue?.path ?? []), issue?.message ?? ""].join(" ")}`;
    },
  };
}

async function aiSdkTools(definitions: readonly RecallTool[]): Promise<ToolSet> {
  const { jsonSchema, tool } = await import("ai").catch((cause: unknown) => {
    throw new AiSdkMissingError({ cause });
  });
  return Object.fromEntries(
    definitions.map(({ name, description, inputSchema, execute }) => [
      name,
      tool({ description, inputSchema: jsonSchema(inputSchema), execute }),
    ]),
  );
}
