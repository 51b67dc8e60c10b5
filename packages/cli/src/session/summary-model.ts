import { openAiCompatibleSummarizer, type Summarizer } from "@bough/compaction";
import { InvalidArgumentError } from "@bough/session-core";
import { windowOf } from "../compacting/model-windows.js";
import { UsageError } from "../errors.js";
import type { Io } from "../terminal/io.js";

/** What a person says about the model that writes summaries. */
export interface SummaryModelOptions {
  readonly model?: string;
  readonly baseUrl?: string;
  readonly apiKeyEnv?: string;
  readonly extract?: boolean;
}

/** A model that writes summaries. */
export interface SummaryModel {
  readonly name: string;
  readonly summarizer: Summarizer;
  /** Its window in tokens, where the table has it. */
  readonly windowTokens: number | undefined;
  /** Why its last call came to nothing; undefined: it did not. */
  readonly failure: () => string | undefined;
}

/**
 * The model that options and environment name; null: none, the extract is taken. A key is read from the environment
 * only: what stands on a command line is seen by everybody on the machine and kept in the shell's history.
 *
 * @throws {UsageError} it is named only in part.
 */
export function chooseSummaryModel(env: Io["env"], options: SummaryModelOptions): SummaryModel | null {
  if (options.extract === true) return null;
  const name = options.model ?? nonEmpty(env["BOUGH_MODEL"]);
  if (name === undefined || name === "") {
    if (options.baseUrl !== undefined || options.apiKeyEnv !== undefined || name === "")
      throw new UsageError("Which model? Name it with --model or BOUGH_MODEL.");
    return null;
  }
  const baseURL = options.baseUrl ?? nonEmpty(env["BOUGH_BASE_URL"]);
  if (baseURL === undefined)
    throw new UsageError(
      "The model needs an address: --base-url or BOUGH_BASE_URL, such as http://127.0.0.1:11434/v1. Without a model: --extract.",
    );
  return recordFailures(name, createSummarizer(baseURL, name, chooseKey(env, options)));
}

function createSummarizer(baseURL: string, model: string, apiKey: string | undefined): Summarizer {
  try {
    return openAiCompatibleSummarizer({ baseURL, model, apiKey });
  } catch (error) {
    // The address itself is not repeated: it can hold a password.
    if (error instanceof InvalidArgumentError)
      throw new UsageError("The address of the model must begin with http:// or https://.", { cause: error });
    throw error;
  }
}

function chooseKey(env: Io["env"], { apiKeyEnv, baseUrl }: SummaryModelOptions): string | undefined {
  if (apiKeyEnv === undefined) {
    // A key belongs to an address: another one that is typed does not get it.
    const configured = nonEmpty(env["BOUGH_BASE_URL"]);
    const isOther = baseUrl !== undefined && configured !== undefined && baseUrl !== configured;
    return isOther ? undefined : nonEmpty(env["BOUGH_API_KEY"]);
  }
  const key = Object.hasOwn(env, apiKeyEnv) ? nonEmpty(env[apiKeyEnv]) : undefined;
  // What was typed is not repeated: it may be the key itself.
  if (key === undefined) throw new UsageError("--api-key-env takes the name of a variable that holds the key; the one named is not set.");
  return key;
}

/** A variable that is set to nothing is not set. */
function nonEmpty(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === "" ? undefined : value.trim();
}

/** The engine goes on with the extract when a model fails; a person wants to know why. */
function recordFailures(name: string, inner: Summarizer): SummaryModel {
  let failure: string | undefined;
  const summarizer: Summarizer = async (request) => {
    try {
      const reply = await inner(request);
      failure = undefined;
      return reply;
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
      throw error;
    }
  };
  return { name, summarizer, windowTokens: windowOf(name), failure: () => failure };
}
