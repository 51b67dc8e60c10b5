import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { ruleOf } from "@bough/session-core/arguments";
import { type ReadingPosition, type SourceRecord, type SourceSession, toRecord } from "@bough/session-core/engine";
import {
  BATCHES_POSTED,
  BATCHES_TAKEN,
  IS_STOPPED,
  type ReadingAnswer,
  type ReadingRequest,
  type ReadingSetup,
  type RecordBatch,
  type RemoteSession,
} from "./reading-protocol.js";

/** The interval at which a waiting writer checks that the thread still runs, in milliseconds. */
const CHECK_EVERY_MS = 100;

/** `ImportPathOptions.threads`. */
export const THREADS = ruleOf('true, false or "always"', (value) => typeof value === "boolean" || value === "always");

/** The size of the files of an import from which a thread is worth its start, which takes a tenth of a second, in bytes. */
const LEAST_BYTES = 8 << 20;

/** A smaller file is read as fast by the thread that writes, in bytes. */
const LEAST_FILE_BYTES = 1 << 16;

/** The time for which a thread waits for the next import, whose code it has compiled then, in milliseconds. */
const IDLE_MS = 10_000;

/**
 * The most memory of the thread's heap. It needs 30 to 100 MB for a file of 1 GB. With V8's limit for a large machine, 4 GB, the heap grows to
 * four times what is needed before it is collected; below 2 GB to twice that. No object of a batch is needed after it is posted, so the
 * young generation need not be V8's 48 MB, which stay resident.
 */
const HEAP = { maxOldGenerationSizeMb: 2000, maxYoungGenerationSizeMb: 24 };

/** The thread that no import uses. */
let idle: { readonly thread: ReadingThread; readonly timer: NodeJS.Timeout } | undefined;

/** Takes the idle thread, or starts one. */
function takeThread(): ReadingThread | undefined {
  const taken = idle;
  idle = undefined;
  clearTimeout(taken?.timer);
  return taken?.thread.works === true ? taken.thread : ReadingThread.start();
}

/** Keeps a thread for the next import. Neither it nor its timer keeps the process alive. */
function leaveThread(thread: ReadingThread): void {
  if (!thread.works || idle !== undefined) return void thread.end();
  thread.forget();
  const timer = setTimeout(() => {
    idle = undefined;
    void thread.end();
  }, IDLE_MS).unref();
  idle = { thread, timer };
}

/** The reading thread of an import: taken with the first files that are worth it, and used for all. */
export class ReadingThreads {
  readonly #use: boolean | "always";
  #thread: ReadingThread | undefined;

  /** `use`: as in `ImportPathOptions.threads`. */
  constructor(use: boolean | "always" = true) {
    this.#use = use;
  }

  /** Called with the files that an import will read. */
  prepareFor(files: readonly { readonly bytes: number }[]): void {
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    if (this.#use === "always" || (this.#use && bytes >= LEAST_BYTES && availableParallelism() > 1)) this.#thread ??= takeThread();
  }

  /** The thread that reads a file of this size; undefined: the one that writes reads it. */
  threadFor(bytes: number): ReadingThread | undefined {
    // A thread that ended, for example for want of memory, is replaced. One that could not be started would not be the next time either.
    if (this.#thread?.works === false && this.#thread.hasStarted) this.#thread = takeThread();
    const isWorth = this.#use === "always" || bytes >= LEAST_FILE_BYTES;
    return isWorth && this.#thread?.works === true ? this.#thread : undefined;
  }

  /** Call it when the import has ended. */
  release(): void {
    if (this.#thread !== undefined) leaveThread(this.#thread);
    this.#thread = undefined;
  }
}

/** The reading thread failed. Nothing of the session is written; the import reads the file in its own thread, which tells the reason. */
export class ReadingThreadFailedError extends Error {
  override readonly name = "ReadingThreadFailed";
}

/**
 * The reading thread ended while it read a file, for example because there was not enough memory. Nothing of the session is written. The
 * file is read once more by another such thread, and never by the one that writes: it could end the process.
 */
export class ReadingThreadEndedError extends Error {
  override readonly name = "ReadingThreadEnded";
}

/**
 * A thread that reads the files of an import, one after the other, while the import writes: reading, parsing, mapping and validating take
 * as long as writing. The order of records is that of the file. At most 8 batches of 64 records or 64 kB are in memory.
 */
export class ReadingThread {
  readonly #worker: Worker;
  readonly #batches: MessagePort;
  readonly #counters: Int32Array<SharedArrayBuffer>;
  readonly #started: Promise<unknown>;
  #posted = 0;
  #hasStarted = false;
  #isFailed = false;
  readonly #ended: Promise<unknown>;
  #settle: { resolve(answer: ReadingAnswer): void; reject(error: unknown): void } | undefined;

  /** Starts the thread; undefined if its file is not beside this one, as in a bundle. In one of CommonJS, `import.meta.url` is undefined. */
  static start(): ReadingThread | undefined {
    const file = ["./transfer/reading-worker.js", "../transfer/reading-worker.js"]
      .filter((name) => URL.canParse(name, import.meta.url))
      .map((name) => new URL(name, import.meta.url))
      .find(isFile);
    return file === undefined ? undefined : new ReadingThread(file);
  }

  private constructor(file: URL) {
    const { port1, port2 } = new MessageChannel();
    this.#batches = port1;
    this.#counters = new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT));
    const setup: ReadingSetup = { batches: port2, counters: this.#counters };
    this.#worker = new Worker(file, { workerData: setup, transferList: [port2], resourceLimits: HEAP });
    this.#worker.on("message", (answer: ReadingAnswer) => this.#settle?.resolve(answer));
    this.#worker.on("error", (error) => this.#fail(error));
    this.#ended = new Promise((resolve) => {
      this.#worker.on("error", resolve);
      this.#worker.on("exit", (code) => resolve(`exit code ${code}`));
    });
    this.#worker.on("exit", () => this.#fail(new Error("it ended")));
    this.#started = this.#answer().then(
      () => (this.#hasStarted = true),
      (cause) => {
        throw new ReadingThreadFailedError("it did not start", { cause });
      },
    );
    this.#started.catch(() => {});
  }

  /** False after a failure: then files are read without it. */
  get works(): boolean {
    return !this.#isFailed;
  }

  /** True once it has taken its first request. */
  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  /** Resolves with the reason when the thread has ended. */
  get ended(): Promise<unknown> {
    return this.#ended;
  }

  /** The name of the format of a file; undefined: it is of none. @throws {ReadingThreadFailedError | ReadingThreadEndedError} */
  async detect(path: string): Promise<string | undefined> {
    await this.#started;
    const answer = await this.#ask({ kind: "detect", path });
    if (answer.kind === "failed") throw new ReadingThreadFailedError(answer.reason);
    return answer.kind === "format" ? answer.name : undefined;
  }

  /** The sessions of a file. Read the records of each before the next one. @throws {ReadingThreadFailedError | ReadingThreadEndedError} */
  async *sessions(path: string, format: string): AsyncGenerator<SourceSession, void, void> {
    await this.#started;
    // The first call keeps the start of the thread's event loop; later ones compare with it.
    this.#isRunning();
    try {
      for (let request: ReadingRequest = { kind: "open", path, format }; ; request = { kind: "next" }) {
        const answer = await this.#ask(request);
        if (answer.kind === "failed") throw new ReadingThreadFailedError(answer.reason);
        if (answer.kind !== "session") return;
        yield this.#sessionOf(answer.session);
      }
    } finally {
      if (!this.#isFailed) this.#worker.postMessage({ kind: "close" } satisfies ReadingRequest);
    }
  }

  /** Drops what was cached of folders. The next import reads them again. */
  forget(): void {
    this.#worker.postMessage({ kind: "forget" } satisfies ReadingRequest);
  }

  /** Ends the thread. */
  async end(): Promise<void> {
    this.#isFailed = true;
    this.#batches.close();
    await this.#worker.terminate();
  }

  #ask(request: ReadingRequest): Promise<ReadingAnswer> {
    const answer = this.#answer();
    this.#worker.postMessage(request);
    return answer;
  }

  #answer(): Promise<ReadingAnswer> {
    if (this.#isFailed) return Promise.reject(new ReadingThreadEndedError("it ended"));
    // A thread that nobody waits for does not keep the process alive.
    this.#worker.ref();
    const answer = new Promise<ReadingAnswer>((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    return answer.finally(() => this.#worker.unref());
  }

  #fail(cause: unknown): void {
    this.#isFailed = true;
    this.#settle?.reject(new ReadingThreadEndedError(String(cause), { cause }));
  }

  #sessionOf({ header, path, revision, hasPosition }: RemoteSession): SourceSession {
    let end: Extract<RecordBatch, { readonly kind: "end" }> | undefined;
    const records = (from?: ReadingPosition) => this.#records(from, header.cwd ?? null, (read) => (end = read));
    return {
      header,
      path,
      get revision() {
        return end === undefined ? revision : end.revision;
      },
      records,
      ...(hasPosition ? { position: () => end?.position } : {}),
    };
  }

  /** Takes the batches of a session as they come. It blocks this thread while it waits, because the transaction of the import does. */
  *#records(
    from: ReadingPosition | undefined,
    directory: string | null,
    ended: (end: Extract<RecordBatch, { readonly kind: "end" }>) => void,
  ): Generator<SourceRecord> {
    Atomics.store(this.#counters, IS_STOPPED, 0);
    this.#worker.postMessage({ kind: "records", from } satisfies ReadingRequest);
    let isEnded = false;
    try {
      for (;;) {
        const batch = this.#take();
        isEnded = batch.kind !== "records";
        if (batch.kind === "end") return ended(batch);
        if (batch.kind === "failed") throw new ReadingThreadFailedError(batch.reason);
        for (const record of batch.records) yield toRecord(record, directory);
        this.#release();
      }
    } finally {
      if (!isEnded && !this.#isFailed) ended(this.#stop());
    }
  }

  /** Lets the reader end the session, and drops what it has read of it. */
  #stop(): Extract<RecordBatch, { readonly kind: "end" }> {
    Atomics.store(this.#counters, IS_STOPPED, 1);
    for (;;) {
      this.#release();
      const batch = this.#take();
      if (batch.kind === "end") return batch;
      if (batch.kind === "failed") return { kind: "end", revision: undefined, position: undefined };
    }
  }

  #release(): void {
    Atomics.store(this.#counters, BATCHES_TAKEN, this.#posted);
    Atomics.notify(this.#counters, BATCHES_TAKEN);
  }

  /** @throws {ReadingThreadEndedError} the thread ended: its events are not delivered while this one is blocked. */
  #take(): RecordBatch {
    for (;;) {
      // Once its `exit` is delivered, the thread looks like one that runs.
      if (this.#isFailed) throw new ReadingThreadEndedError("it ended");
      const isRunning = this.#isRunning();
      const posted = Atomics.load(this.#counters, BATCHES_POSTED);
      const received: { readonly message: RecordBatch } | undefined = receiveMessageOnPort(this.#batches);
      if (received !== undefined) {
        this.#posted += 1;
        if (received.message.kind !== "records") this.#release();
        return received.message;
      }
      if (!isRunning) {
        this.#isFailed = true;
        throw new ReadingThreadEndedError("it ended");
      }
      Atomics.wait(this.#counters, BATCHES_POSTED, posted, CHECK_EVERY_MS);
    }
  }

  /** False if the thread has ended. Node.js then returns an idle time of -1, at once; `exit` is an event, which a blocked thread never gets. */
  #isRunning(): boolean {
    return this.#worker.performance.eventLoopUtilization().idle >= 0;
  }
}

function isFile(file: URL): boolean {
  return file.protocol === "file:" && existsSync(fileURLToPath(file));
}
