import { type Compactor, type CompactorOptions, createCompactor, type SettingsSource, type Summarizer } from "@bough/compaction";
import { aiSdkSummarizer } from "@bough/compaction/ai-sdk";
import type { Session, SessionId, SessionRecord, Store } from "@bough/session-core";
import { liveOptions } from "../agent/ask-model.js";
import { type ChatModel, type ChatOptions, chooseChatModel } from "../agent/chat-model.js";
import { offersRecall } from "../agent/request-frame.js";
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
  /** True if the notice that no model is configured was shown. */
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
    summarizer: chooseSummarizers(run, session),
    settings: shellSettings(config),
    recall: offersRecall(config.tools ?? {}),
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

/** Without recall tools a note of what a summary covers would name entries that the model cannot open. */
function shellSettings(config: Config): SettingsSource {
  const { breadcrumb, recordPath } = config.compaction?.summary ?? {};
  if (offersRecall(config.tools ?? {}) || breadcrumb !== undefined || (recordPath ?? null) !== null) return compactionSettings(config);
  const compaction = { ...config.compaction, summary: { ...config.compaction?.summary, breadcrumb: false } };
  return compactionSettings({ ...config, compaction });
}

/** Manual compactions use the model that replies. Automatic ones use `summaryModel` of the config first, if it is set. */
function chooseSummarizers(run: InteractiveRun, session: Session): NonNullable<CompactorOptions["summarizer"]> {
  const { model, config } = run;
  if (model === null) return [];
  // /model may have chosen another one since.
  const own = createSummarizer(run, session, () => run.model ?? model);
  const summaryModel = config.summaryModel === undefined ? null : chooseNamedModel(run, config.summaryModel);
  return { manual: own, automatic: summaryModel === null ? own : [createSummarizer(run, session, () => summaryModel), own] };
}

/** A summarizer with the AI SDK model, which is loaded at the first call. In full mode it repeats the live request of the shell. */
function createSummarizer({ config, io }: InteractiveRun, session: Session, chosen: () => ChatModel): Summarizer {
  return async (request) => {
    const model = chosen();
    const frame = { session, permissions: config.tools ?? {}, cwd: io.cwd, thinking: config.thinking };
    const live = request.context === undefined ? {} : await liveOptions(model, frame, request.context);
    return aiSdkSummarizer(await model.languageModel(), { secrets: model.secrets, ...live })(request);
  };
}

/** Another model at the same URL. */
export function chooseNamedModel({ io, config, options }: InteractiveRun, name: string): ChatModel | null {
  return chooseChatModel(io.env, config, { ...options, model: name, modelFrom: "/model" });
}
