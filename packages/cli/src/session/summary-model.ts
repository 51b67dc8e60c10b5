import { openAiCompatibleSummarizer, type Summarizer } from "@bough/compaction";
import { findContextWindow } from "@bough/compaction/providers";
import { InvalidArgumentError } from "@bough/session-core";
import { UsageError } from "../errors.js";
import type { Io } from "../terminal/io.js";

/** The command-line options of the summary model. */
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
  /** Its context window in tokens; undefined: it is not in the table. */
  readonly windowTokens: number | undefined;
  /** The message of the error of its last call; undefined: the call succeeded. */
  readonly failure: () => string | undefined;
}

/**
 * Chooses the summary model from options and environment; null: there is none, and summaries are extracts. The API key is
 * read from the environment only, because other users can see command lines and shells record them.
 *
 * @throws {UsageError} the model, its URL or its key is missing.
 */
export function chooseSummaryModel(env: Io["env"], options: SummaryModelOptions): SummaryModel | null {
  if (options.extract === true) return null;
  const name = options.model ?? nonEmpty(env["BOUGH_MODEL"]);
  if (name === undefined || name === "") {
    if (options.baseUrl !== undefined || options.apiKeyEnv !== undefined || name === "")
      throw new UsageError("The model is missing. Name it with --model or BOUGH_MODEL.");
    return null;
  }
  const baseURL = options.baseUrl ?? nonEmpty(env["BOUGH_BASE_URL"]);
  if (baseURL === undefined)
    throw new UsageError(
      "The URL of the model is missing. Set --base-url or BOUGH_BASE_URL, such as http://127.0.0.1:11434/v1; or use no model with --extract.",
    );
  return recordFailures(name, createSummarizer(baseURL, name, chooseKey(env, options)));
}

function createSummarizer(baseURL: string, model: string, apiKey: string | undefined): Summarizer {
  try {
    return openAiCompatibleSummarizer({ baseURL, model, apiKey });
  } catch (error) {
    // The URL is not repeated, because it may contain a password.
    if (error instanceof InvalidArgumentError)
      throw new UsageError("The URL of the model must begin with http:// or https://.", { cause: error });
    throw error;
  }
}

function chooseKey(env: Io["env"], { apiKeyEnv, baseUrl }: SummaryModelOptions): string | undefined {
  if (apiKeyEnv === undefined) {
    // A key belongs to one URL, so it is not sent to another --base-url.
    const configured = nonEmpty(env["BOUGH_BASE_URL"]);
    const isOther = baseUrl !== undefined && configured !== undefined && baseUrl !== configured;
    return isOther ? undefined : nonEmpty(env["BOUGH_API_KEY"]);
  }
  return requireKey(env, apiKeyEnv, "--api-key-env");
}

/** The API key in a variable. The message does not repeat the name, because the user may have given the key itself. */
export function requireKey(env: Io["env"], variable: string, option: string): string {
  const key = Object.hasOwn(env, variable) ? nonEmpty(env[variable]) : undefined;
  if (key === undefined) throw new UsageError(`${option} must name an environment variable with the key; the variable is not set.`);
  return key;
}

/** The trimmed value of a variable; an empty variable counts as unset. */
export function nonEmpty(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === "" ? undefined : value.trim();
}

/** Wraps a summarizer to record its errors: after an error the compactor falls back to an extract, and the report names the error. */
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
  return { name, summarizer, windowTokens: findContextWindow(name), failure: () => failure };
}
