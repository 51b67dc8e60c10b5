// The thread that reads the files of an import while another one writes: reads, parses, maps, validates, and derives what a store needs.
import { parentPort, workerData } from "node:worker_threads";
import {
  loadValidation,
  type PreparedRow,
  prepareRecord,
  type SourceRecord,
  type SourceSession,
  textLength,
} from "@bough/session-core/engine";
import { FORMATS } from "../registry.js";
import { closeDetected } from "../source/source-database.js";
import { SourceFolders } from "../source/source-folders.js";
import {
  BATCHES_POSTED,
  BATCHES_TAKEN,
  IS_STOPPED,
  MOST_AHEAD,
  type ReadingAnswer,
  type ReadingRequest,
  type ReadingSetup,
  type RecordBatch,
} from "./reading-protocol.js";
import { detectFormat, sessionsOfFile } from "./sessions-of-file.js";

/**
 * A batch is posted at this number of records, or of characters of JSON. Four times as many take both threads half as long again to
 * post and to receive: what is copied no longer fits into the cache of a core.
 */
const BATCH_RECORDS = 64;
const BATCH_CHARS = 1 << 16;

const { batches, counters }: ReadingSetup = workerData;
const validate = await loadValidation();
/** The folders that this import has listed and read. */
let folders = new SourceFolders();
let sessions: Iterator<SourceSession> | undefined;
let session: SourceSession | undefined;

parentPort?.on("message", (request: ReadingRequest) => {
  if (request.kind === "records") sendRecords(request.from);
  else if (request.kind === "close") close();
  else if (request.kind === "forget") forget();
  else parentPort?.postMessage(answerOf(request));
});
parentPort?.postMessage({ kind: "end" } satisfies ReadingAnswer);

function answerOf(request: Extract<ReadingRequest, { readonly kind: "detect" | "open" | "next" }>): ReadingAnswer {
  try {
    if (request.kind === "detect") return { kind: "format", name: detectFormat(request.path, FORMATS, folders)?.name };
    if (request.kind === "open") open(request);
    const next = sessions?.next();
    session = next?.done === false ? next.value : undefined;
    if (session === undefined) return { kind: "end" };
    const { header, path, revision, position } = session;
    return { kind: "session", session: { header, path, revision, hasPosition: position !== undefined } };
  } catch (error) {
    return { kind: "failed", reason: String(error) };
  }
}

function open({ path, format: name }: Extract<ReadingRequest, { readonly kind: "open" }>): void {
  const format = FORMATS.find((one) => one.name === name);
  sessions = format && sessionsOfFile(path, format, folders);
}

function forget(): void {
  close();
  folders = new SourceFolders();
}

function close(): void {
  sessions?.return?.();
  [sessions, session] = [undefined, undefined];
  closeDetected(folders);
}

function sendRecords(from: Extract<ReadingRequest, { readonly kind: "records" }>["from"]): void {
  try {
    for (const { records, isDecision } of session === undefined ? [] : batchesOf(session, from)) {
      post({ kind: "records", records });
      // The writer decides at the open end of a session whether it goes on. A reader must not have read beyond it then.
      waitForWriter(isDecision ? 1 : MOST_AHEAD);
      if (Atomics.load(counters, IS_STOPPED) === 1) break;
    }
    post({ kind: "end", revision: session?.revision, position: session?.position?.() });
  } catch (error) {
    post({ kind: "failed", reason: String(error) });
  }
}

/** Records for one message. `isDecision`: the last one is a record at which the import may leave the session. */
interface Batch {
  readonly records: (SourceRecord | PreparedRow)[];
  readonly isDecision: boolean;
}

function* batchesOf(source: SourceSession, from: Extract<ReadingRequest, { readonly kind: "records" }>["from"]): Generator<Batch> {
  const context = { directory: source.header.cwd ?? null };
  let records: (SourceRecord | PreparedRow)[] = [];
  let chars = 0;
  for (const record of source.records(from)) {
    const prepared = prepareRecord(record, validate, writerHasWork() ? context : undefined);
    records.push(prepared);
    chars += textLength(prepared);
    if (records.length < BATCH_RECORDS && chars < BATCH_CHARS && !isDecision(record)) continue;
    yield { records, isDecision: isDecision(record) };
    [records, chars] = [[], 0];
  }
  if (records.length > 0) yield { records, isDecision: false };
}

/** True for a record at which the import may leave the session. */
function isDecision(record: SourceRecord): boolean {
  return record.kind === "open" || (record.kind === "problem" && record.problem.code === "torn-line");
}

function post(batch: RecordBatch): void {
  batches.postMessage(batch);
  Atomics.add(counters, BATCHES_POSTED, 1);
  Atomics.notify(counters, BATCHES_POSTED);
}

/** True if the writer has work: then this thread has the time to derive what a store needs. Otherwise the writer waits, and derives it itself. */
function writerHasWork(): boolean {
  return Atomics.load(counters, BATCHES_POSTED) - Atomics.load(counters, BATCHES_TAKEN) > 0;
}

/** Waits until the writer is fewer than `most` batches behind, or left the session. */
function waitForWriter(most: number): void {
  for (;;) {
    const taken = Atomics.load(counters, BATCHES_TAKEN);
    if (Atomics.load(counters, BATCHES_POSTED) - taken < most || Atomics.load(counters, IS_STOPPED) === 1) return;
    Atomics.wait(counters, BATCHES_TAKEN, taken);
  }
}
