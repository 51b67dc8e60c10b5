import { type Compactor, createCompactor, type Summarizer } from "@bough/compaction";
import { aiSdkSummarizer } from "@bough/compaction/ai-sdk";
import { findContextWindow } from "@bough/compaction/providers";
import type { Session } from "@bough/session-core";
import { loadConfig } from "../config/config-file.js";
import type { Config } from "../config/schema.js";
import { UsageError } from "../errors.js";
import { compactionSettings, type SummaryModel, type SummaryOptions } from "../session/compactor.js";
import { chooseWindow } from "../session/window-choice.js";
import type { Io } from "../terminal/io.js";
import { type ChatModel, chooseChatModel } from "./chat-model.js";

/**
 * Chooses model, context window and settings for summaries of a session. `model` null: there is none, and the summary is an extract.
 * The model is chosen as the shell chooses the one that replies. `compactor`: the options of a compactor.
 *
 * @throws {UsageError | ConfigError}
 */
export async function summaryWork(io: Io, session: Session, options: SummaryOptions & { readonly keep?: number }) {
  const config = await loadConfig(io);
  const model = options.extract === true ? null : chooseSummaryModel(io.env, config, options);
  const window = await chooseWindow(session, options.window);
  const settings = compactionSettings(config, { preset: options.preset, keep: options.keep, model });
  const compactor = { session, contextWindow: window.tokens, summarizer: model?.summarizer ?? [], settings, now: io.now };
  return { model, window, compactor };
}

/** A compactor of a session with the summary model of environment and config. Close it. */
export async function openSummaryCompactor(io: Io, session: Session): Promise<Compactor> {
  return createCompactor((await summaryWork(io, session, {})).compactor);
}

function chooseSummaryModel(env: Io["env"], config: Config, options: SummaryOptions): SummaryModel | null {
  const model = chooseModel(env, config, options);
  if (model === null) return null;
  const { name, secrets } = model;
  const recorded = recordFailures(async (request) => aiSdkSummarizer(await model.languageModel(), { secrets })(request));
  return { name, windowTokens: config.window ?? findContextWindow(name), ...recorded };
}

/** Unlike a reply, a summary needs no model, which the error says. */
function chooseModel(env: Io["env"], config: Config, { model, baseUrl, apiKeyEnv }: SummaryOptions): ChatModel | null {
  try {
    return chooseChatModel(env, config, { model, baseUrl, apiKeyEnv });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${error.message} \`bough compact\` and \`bough go\` use no model with --extract.`, { cause: error });
  }
}

/** Wraps a summarizer to record its errors: after an error the compactor falls back to an extract, and the report names the error. */
function recordFailures(inner: Summarizer): Pick<SummaryModel, "summarizer" | "failure"> {
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
  return { summarizer, failure: () => failure };
}
