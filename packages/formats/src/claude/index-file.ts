import { ReadFromStartError, type ReadingPosition } from "@bough/session-core/engine";
import { type JsonObject, parseJsonObject, parseTime } from "@bough/session-core/wire";
import { readJsonLines, type SourceLine } from "../source/json-lines.js";
import { type EarlierLines, hasSameContent, Indexer } from "./indexer.js";
import { OpenRecords } from "./open-records.js";
import { BRANCH_STARTS } from "./record-kind.js";
import type { IndexState, SavedTranscript } from "./saved-transcript.js";
import { type IndexedRecord, LineReader, type NodeIndex, ROOT, type SessionFile } from "./session-file.js";

/**
 * The first pass: reads a file once and indexes the position and the relations of each record.
 *
 * With the index, the second pass (records.ts) writes each reply before the results of its calls, although its lines are mixed
 * with them, and recognizes records without text that start a branch.
 *
 * Claude Code writes the parent of each reply; other programs write none. A file with replies without a parent is indexed again, with
 * each record that has none below the one before it.
 *
 * @param agent the agent of records that do not contain one.
 * @throws {SourceNotFoundError | SourceUnreadableError} the file cannot be opened or read.
 */
export function indexFile(path: string, agent?: string): IndexedFile {
  const lines = new EarlierFileLines(path);
  try {
    const file = indexLines(path, agent, lines);
    return isUnlinked(file) ? indexAsChain(file, agent, lines) : file;
  } finally {
    lines.close();
  }
}

/**
 * Indexes the part of a file after the end of an earlier reading, behind the records that it saved.
 *
 * @throws {ReadFromStartError} a record refers to one that was not saved.
 */
export function indexRest(path: string, agent: string | undefined, from: ReadingPosition, saved: SavedTranscript): IndexedFile {
  const lines = new EarlierFileLines(path);
  try {
    const file = indexLines(path, agent, lines, { from, saved });
    if (isUnlinked(file)) throw new ReadFromStartError();
    return file;
  } finally {
    lines.close();
  }
}

function indexLines(
  path: string,
  agent: string | undefined,
  lines: EarlierLines,
  { from, saved }: { readonly from?: ReadingPosition; readonly saved?: SavedTranscript } = {},
): IndexedFile {
  const indexer = new Indexer(path, agent, lines, { saved });
  const file = indexer.file();
  const home = homeOf(agent);
  const open = new OpenRecords(file, home, saved?.step);
  let end = { offset: from?.offset ?? 0, line: from?.line ?? 0 };
  let state: IndexState | null | undefined;
  const stateHere = (): IndexState => ({
    ...{ file, count: file.records.length, step: open.stepOf(home), ...indexer.saved, earlier: saved?.seen, end },
    next: nextOf(file, open, home, saved?.next ?? 0),
  });
  for (const item of readJsonLines(path, { from })) {
    const { number, offset, bytes, hasLineBreak } = item.line;
    // The rest of the last line may be on its way. A complete record changes the index: of such a file nothing is saved.
    if (!hasLineBreak) state = item.kind === "problem" ? stateHere() : null;
    if (item.kind === "object") indexer.add(item.line, item.object);
    else indexer.addProblem(item.problem);
    open.add(item.kind === "object" ? item.object : {});
    end = { offset: offset + bytes + 1, line: number };
  }
  return { ...file, open, home, saved, end: state === undefined ? stateHere() : (state ?? undefined) };
}

/** The first record from `first` on that later lines may still change. */
function nextOf({ records }: SessionFile, open: OpenRecords, home: number, first: NodeIndex): NodeIndex {
  let node = Math.max(first, open.stepOf(home)?.node ?? first);
  while (node < records.length && !(records.get(node)?.chain === home && open.isOpen(node, home))) node += 1;
  return node;
}

/** The index of a file, and which of its records its program may still change. */
export interface IndexedFile extends SessionFile {
  readonly open: OpenRecords;
  /** The number of the session that the file is of, in contrast to agents inside it. */
  readonly home: number;
  /** The state that an earlier reading saved, if this one continues it. */
  readonly saved: SavedTranscript | undefined;
  /** The end of the complete lines; undefined: it is not known. */
  readonly end: IndexState | undefined;
}

function homeOf(agent: string | undefined): number {
  return agent === undefined ? 0 : 1;
}

/** True if a reply has no parent, although it is not the first step of its session. */
function isUnlinked({ records }: SessionFile): boolean {
  const started = new Set<number>();
  for (const { kind, chain, parent } of records) {
    if (kind === "reply" && parent === ROOT && started.has(chain)) return true;
    if (BRANCH_STARTS.includes(kind)) started.add(chain);
  }
  return false;
}

function indexAsChain(file: IndexedFile, agent: string | undefined, lines: EarlierLines): IndexedFile {
  const indexer = new Indexer(file.path, agent, lines, { isChain: true });
  const chain = indexer.file();
  const open = new OpenRecords(chain);
  const reader = new LineReader(file.path);
  try {
    for (const node of hasParents(file) ? Array.from(file.records, (_, at) => at) : inOrderOfTime(file, reader)) {
      const record = file.records.get(node);
      const problem = file.problems.get(node);
      const text = record === undefined ? "" : reader.textAt(record);
      const object = parseJsonObject(text);
      if (problem !== undefined) {
        indexer.addProblem(problem);
        open.add({});
      } else if (record !== undefined && object !== undefined) {
        const { line: number, offset, bytes } = record;
        indexer.add({ number, text, offset, bytes, isTooLong: false, hasLineBreak: true }, object);
        open.add(object);
      }
    }
    // Of such a file nothing is saved.
    return { ...file, ...chain, open, end: undefined };
  } finally {
    reader.close();
  }
}

function hasParents({ records }: SessionFile): boolean {
  for (const { parent } of records) if (parent !== ROOT) return true;
  return false;
}

/** The records, oldest first. One without a time stays behind the one before it in the file. */
function inOrderOfTime({ records }: SessionFile, reader: LineReader): readonly NodeIndex[] {
  let lastMs = Number.NEGATIVE_INFINITY;
  const times = Array.from(records, (record) => {
    lastMs = parseTime(reader.takeObject(record)?.timestamp) ?? lastMs;
    return lastMs;
  });
  return [...times.keys()].sort((a, b) => Math.sign((times[a] ?? 0) - (times[b] ?? 0)) || a - b);
}

class EarlierFileLines implements EarlierLines {
  readonly #path: string;
  #reader: LineReader | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  isSame(earlier: IndexedRecord, line: SourceLine, record: JsonObject): boolean {
    this.#reader ??= new LineReader(this.#path);
    const text = this.#reader.textAt(earlier);
    return text === line.text || hasSameContent(parseJsonObject(text), record);
  }

  close(): void {
    this.#reader?.close();
  }
}
