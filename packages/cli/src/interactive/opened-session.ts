import { aiSdkSummarizer, type Compactor, type CompactorOptions, createCompactor, type Summarizer } from "@bough/compaction";
import type { Session, SessionId, SessionRecord, Store } from "@bough/session-core";
import { type ChatModel, type ChatOptions, chooseChatModel } from "../agent/chat-model.js";
import type { Config } from "../config/schema.js";
import { compactionSettings } from "../session/compactor.js";
import { chooseWindow } from "../session/window-choice.js";
import type { Io } from "../terminal/io.js";

/** What all screens of a run share. */
export interface InteractiveRun {
  readonly io: Io;
  readonly store: Store;
  readonly storePath: string;
  readonly config: Config;
  /** The model in force: as options, environment and config say, or as it was chosen since. */
  model: ChatModel | null;
  /** Whether the person was told that no model answers. */
  isNotebookShown: boolean;
  /** What was said on the command line about it. */
  readonly options: ChatOptions;
}

/** A session that screens work on. */
export interface OpenedSession {
  readonly session: Session;
  readonly record: SessionRecord;
  readonly compactor: Compactor;
  /** Whom to tell when a compaction begins or ends: beside the talk, between turns, or before a request, which then waits for it. */
  readonly onBackground: (listener: (isRunning: boolean) => void) => void;
}

/** Opens a session and what keeps it within its window, lets `work` have both, and closes them on every way out. */
export async function withSession<T>(run: InteractiveRun, id: SessionId, work: (opened: OpenedSession) => Promise<T>): Promise<T> {
  const session = await run.store.openSession(id);
  const record = await session.record();
  let listener: (isRunning: boolean) => void = () => undefined;
  const { model, config, io } = run;
  const window = model?.windowTokens ?? (await chooseWindow(session, config.window)).tokens;
  const compactor = createCompactor({
    session,
    contextWindow: window,
    summarizer: chooseSummarizers(run),
    settings: compactionSettings({ ...(config.preset === undefined ? {} : { preset: config.preset }) }, null),
    now: io.now,
    onEvent: (event) => {
      if (event.type === "compactionStart") listener(true);
      if (event.type === "compactionComplete") listener(false);
    },
  });
  try {
    return await work({
      session,
      record,
      compactor,
      onBackground: (next) => {
        listener = next;
      },
    });
  } finally {
    await compactor.close();
  }
}

/** The model that answers writes the summaries too; those that nobody asked for, the one that the config names for them. */
function chooseSummarizers(run: InteractiveRun): NonNullable<CompactorOptions["summarizer"]> {
  const { model, config } = run;
  if (model === null) return [];
  const cheaper = config.summaryModel === undefined ? null : chooseNamedModel(run, config.summaryModel);
  return {
    manual: createSummarizer(model),
    automatic: cheaper === null ? createSummarizer(model) : [createSummarizer(cheaper), createSummarizer(model)],
  };
}

/** A summariser that asks a model. */
function createSummarizer(model: ChatModel): Summarizer {
  return async (request) => aiSdkSummarizer(await model.languageModel(), { secrets: model.secrets })(request);
}

/** Another model of the same place, by its name. */
export function chooseNamedModel({ io, config, options }: InteractiveRun, name: string): ChatModel | null {
  return chooseChatModel(io.env, config, { ...options, model: name });
}
