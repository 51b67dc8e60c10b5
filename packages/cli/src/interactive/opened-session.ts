import { type Compactor, type CompactorOptions, createCompactor, type Summarizer } from "@bough/compaction";
import { aiSdkSummarizer } from "@bough/compaction/ai-sdk";
import type { Session, SessionId, SessionRecord, Store } from "@bough/session-core";
import { type ChatModel, type ChatOptions, chooseChatModel } from "../agent/chat-model.js";
import type { Config } from "../config/schema.js";
import { compactionSettings } from "../session/compactor.js";
import type { StoreLocation } from "../session/store-location.js";
import { chooseWindow } from "../session/window-choice.js";
import type { Io } from "../terminal/io.js";

/** State shared by all screens of a run. */
export interface InteractiveRun {
  readonly io: Io;
  readonly store: Store;
  readonly location: StoreLocation;
  readonly config: Config;
  /** The current model: from options, environment and config, or chosen with /model. */
  model: ChatModel | null;
  /** Whether the notice that no model is configured was shown. */
  isNotebookShown: boolean;
  /** The command-line options of the model. */
  readonly options: ChatOptions;
}

/** An open session with its compactor. */
export interface OpenedSession {
  readonly session: Session;
  readonly record: SessionRecord;
  readonly compactor: Compactor;
  /** Sets the listener for the start and end of compactions. */
  readonly onBackground: (listener: (isRunning: boolean) => void) => void;
}

/** Opens a session and creates its compactor, runs `work`, and closes the compactor. */
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

/** Manual compactions use the model that replies. Automatic ones use `summaryModel` of the config first, if it is set. */
function chooseSummarizers(run: InteractiveRun): NonNullable<CompactorOptions["summarizer"]> {
  const { model, config } = run;
  if (model === null) return [];
  const summaryModel = config.summaryModel === undefined ? null : chooseNamedModel(run, config.summaryModel);
  return {
    manual: createSummarizer(model),
    automatic: summaryModel === null ? createSummarizer(model) : [createSummarizer(summaryModel), createSummarizer(model)],
  };
}

/** A summarizer with the AI SDK model, which is loaded at the first call. */
function createSummarizer(model: ChatModel): Summarizer {
  return async (request) => aiSdkSummarizer(await model.languageModel(), { secrets: model.secrets })(request);
}

/** Another model at the same URL. */
export function chooseNamedModel({ io, config, options }: InteractiveRun, name: string): ChatModel | null {
  return chooseChatModel(io.env, config, { ...options, model: name, modelFrom: "/model" });
}
