import type { EntryId, EntryInput, Session } from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import { SerialQueue } from "@bough/session-core/engine";
import type { TextStreamPart, ToolSet } from "ai";
import { type AiSdkStep, type AiSdkStreamPart, providerName } from "./step.js";
import { type AiSdkResult, approvedResults, entriesOfStep, resultEntriesOf } from "./step-entries.js";
import { StepReader } from "./step-reader.js";

/** Options of recording steps. */
export interface RecordOptions {
  /**
   * The id of the first entry, for example the one that a page has for the answer. Default: a new id. If the session has an entry of
   * this id, the call continues that answer, and its entries get new ids.
   */
  readonly id?: EntryId | undefined;
  /** The called model: names the model of a first step that is cut off. Complete steps name their own. */
  readonly model?: string | { readonly provider: string; readonly modelId: string } | undefined;
  /** Called after entries were stored, with their ids. */
  readonly onStored?: ((ids: readonly EntryId[]) => void) | undefined;
}

/** Options of `generateText`, `streamText` and agents that record the call, and `done`. Spread it into the options. */
export interface StepRecorder {
  readonly onStepFinish: (step: AiSdkStep) => Promise<void>;
  /** Only streams use it: it sees the step that is cut off. It changes nothing. */
  readonly experimental_transform: <TOOLS extends ToolSet>(options: {
    readonly tools: TOOLS;
  }) => TransformStream<TextStreamPart<TOOLS>, TextStreamPart<TOOLS>>;
  /**
   * Resolves when everything so far is stored.
   *
   * @throws the error of the store, if a step could not be stored: the AI SDK ignores errors of callbacks.
   */
  readonly done: () => Promise<void>;
}

const SESSION = rules.withMethods("a session", "append", "write");
const OPTIONS = rules.record({ id: rules.optional(rules.TEXT), onStored: rules.optional(rules.CALLBACK) });

/**
 * Records the steps of one call of `generateText`, `streamText`, `agent.generate` or `agent.stream` at the leaf of a session. Each
 * step is stored in one transaction as it ends: the reply with usage, stop reason, provider and model, and the results of its
 * tools. A stream that is aborted or fails half way is stored too, with the stop reason `aborted` or `error`: the text so far, the
 * complete tool calls, and a result for each of them. If another writer moved the leaf, the entries become a branch.
 *
 * The prompt is not stored: append the user's message first. After a failed write nothing more is recorded; a stream then ends with
 * the error, and `done` throws it.
 *
 * @example
 * const recorder = recordSteps(session);
 * await generateText({ model, tools, stopWhen: stepCountIs(20), ...toAiSdk(await session.context()), ...recorder });
 * await recorder.done();
 */
export function recordSteps(session: Session, options: RecordOptions = {}): StepRecorder {
  const recording = new Recording(session, options);
  return {
    onStepFinish: (step) => recording.storeStep(step).catch(() => undefined),
    experimental_transform: () => passThrough(new CutRecording(recording)),
    done: () => recording.done(),
  };
}

/**
 * Passes the parts of `fullStream` on and records them at the leaf of a session, as `recordSteps` does. A step is stored when its
 * last part has come, before that part is passed on. A consumer that stops early aborts the recording. Results are stored as the
 * tools returned them: only `recordSteps` knows what `toModelOutput` made of them.
 *
 * @throws the error of the stream, after what was received has been stored; or that of the store.
 * @example
 * for await (const part of recordStream(session, streamText(options).fullStream)) show(part);
 */
export async function* recordStream<P extends AiSdkStreamPart>(
  session: Session,
  stream: AsyncIterable<P>,
  options: RecordOptions = {},
): AsyncGenerator<P, void, void> {
  const recording = new Recording(session, options);
  const cut = new CutRecording(recording, true);
  let hasEnded = false;
  try {
    for await (const part of stream) {
      await cut.take(part);
      yield part;
    }
    hasEnded = true;
  } catch (error) {
    hasEnded = true;
    cut.fail(error);
    throw error;
  } finally {
    await cut.end(hasEnded);
  }
}

/**
 * Stores a whole result of `generateText` or of an agent in one transaction. Use `recordSteps` instead to store each step as it ends.
 *
 * @returns the ids of the entries.
 * @example
 * await recordResult(session, await generateText({ model, ...toAiSdk(await session.context()) }));
 */
export async function recordResult(session: Session, result: AiSdkResult, options: RecordOptions = {}): Promise<readonly EntryId[]> {
  return new Recording(session, options).store(resultEntriesOf(result));
}

/** Appends the entries of one call, in order. */
class Recording {
  readonly #session: Session;
  readonly #options: RecordOptions;
  #names: { provider: string | undefined; model: string | undefined };
  readonly #queue = new SerialQueue();
  #isFirst = true;
  #error: unknown;
  #failure: { readonly error: unknown } | undefined;

  constructor(session: Session, options: RecordOptions) {
    rules.checkArgument("session", session, SESSION);
    rules.checkArgument("options", options, OPTIONS);
    this.#session = session;
    this.#options = options;
    const { model } = options;
    this.#names =
      typeof model === "object" ? { provider: providerName(model.provider), model: model.modelId } : { provider: undefined, model };
  }

  async storeStep(step: AiSdkStep): Promise<void> {
    if (step.model !== undefined) this.#names = { provider: providerName(step.model.provider), model: step.model.modelId };
    // A stream has stored them already, each as it came.
    const approved = this.#isFirst ? approvedResults(step.response.messages) : [];
    await this.store([...approved, ...entriesOfStep(step, this.#error)]);
    this.#error = undefined;
  }

  /** Keeps an error of the stream for the step that it ends. */
  noteError(part: AiSdkStreamPart): void {
    if (part.type === "error" && "error" in part) this.#error ??= part.error;
  }

  async storeRead(reader: StepReader): Promise<void> {
    await this.store(reader.entries(this.#names));
  }

  /** Stores entries in one transaction after those before. @throws the first error of this or an earlier write. */
  store(entries: readonly EntryInput[]): Promise<readonly EntryId[]> {
    return this.#queue.run(async () => {
      try {
        return await this.#write(entries);
      } catch (error) {
        this.#failure ??= { error };
        throw error;
      }
    });
  }

  async #write(entries: readonly EntryInput[]): Promise<readonly EntryId[]> {
    this.throwFailure();
    if (entries.length === 0) return [];
    const { onStored } = this.#options;
    const id = this.#isFirst ? await this.#firstId() : undefined;
    const named = entries.map((entry, at) => (at === 0 && id !== undefined ? { ...entry, id } : entry));
    const written = await this.#session.write(
      named.map((entry) => ({ kind: "entry", entry })),
      { onConflict: "branch" },
    );
    this.#isFirst = false;
    const ids = written.map((entry) => entry.id);
    onStored?.(ids);
    return ids;
  }

  async #firstId(): Promise<EntryId | undefined> {
    const { id } = this.#options;
    return id === undefined || (await this.#session.entriesById([id])).has(id) ? undefined : id;
  }

  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async done(): Promise<void> {
    await this.#queue.idle();
    this.throwFailure();
  }
}

/** Follows a stream, to store the step that is cut off; with `all` also those that end. */
class CutRecording {
  readonly #recording: Recording;
  readonly #all: boolean;
  #reader: StepReader | undefined;

  constructor(recording: Recording, all = false) {
    this.#recording = recording;
    this.#all = all;
  }

  async take(part: AiSdkStreamPart): Promise<void> {
    // A failed write ends the stream: what follows could not be stored either.
    this.#recording.throwFailure();
    if (part.type === "start-step") this.#reader = new StepReader();
    // Results of calls that were approved come before the first step.
    else if (this.#reader === undefined && /^tool-(result|error)$/.test(part.type)) return this.#storeLateResult(part);
    this.#recording.noteError(part);
    this.#reader?.take(part);
    if (part.type === "finish-step" && !this.#all) this.#reader = undefined;
    else if (part.type === "finish-step" || part.type === "abort") await this.#store();
  }

  /** The stream has failed. It also does when its call is aborted; `ResponseAborted` is the error of Next.js for a client that left. */
  fail(error: unknown): void {
    if (error instanceof Error && /^(AbortError|ResponseAborted)$/.test(error.name)) this.#reader?.stop();
    else this.#reader?.fail(error);
  }

  /** The stream has no more parts. `hasEnded` false: its consumer left. */
  async end(hasEnded: boolean): Promise<void> {
    if (!hasEnded) this.#reader?.stop();
    await this.#store();
  }

  async #store(): Promise<void> {
    const reader = this.#reader;
    this.#reader = undefined;
    if (reader !== undefined) await this.#recording.storeRead(reader);
  }

  async #storeLateResult(part: AiSdkStreamPart): Promise<void> {
    const reader = new StepReader();
    reader.take(part);
    await this.#recording.store(reader.results());
  }
}

function passThrough<P extends AiSdkStreamPart>(cut: CutRecording): TransformStream<P, P> {
  const transformer = {
    async transform(part: P, controller: { readonly enqueue: (part: P) => void }) {
      await cut.take(part);
      controller.enqueue(part);
    },
    flush: () => cut.end(true),
    // Called where the stream is cancelled or, with its error, has failed, by versions of Node that know it.
    cancel(reason: unknown) {
      if (reason instanceof Error) cut.fail(reason);
      return cut.end(reason instanceof Error);
    },
  };
  return new TransformStream(transformer);
}
