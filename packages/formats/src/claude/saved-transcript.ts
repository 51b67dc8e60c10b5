import type { EntryId } from "@bough/session-core";
import type { ReadingPosition, SourceHeader } from "@bough/session-core/engine";
import { type SavedIds, SeenIds } from "../source/seen-ids.js";
import type { RecordKind } from "./record-kind.js";
import { RecordTable } from "./record-table.js";
import type { CallFacts, ChainFacts, NodeIndex, SessionFile } from "./session-file.js";

/** A record before those that a later reading knows. */
export const BEFORE: NodeIndex = -3;

/** The records that a later reading knows: so many before the first one that it reads. Claude Code seldom refers to an earlier one. */
const KNOWN_RECORDS = 64;

/** The most records, and the most calls and titles, that are saved: of a longer turn, the next reading begins at the start. */
const MOST_RECORDS = 2000;
const MOST_CALLS = 300;
const MOST_TITLES = 100;

/**
 * The state that a later reading of a transcript needs of the part that was read: its last records, with numbers from 0, and the ids of all. A
 * record that refers to another one is found by `seen`; then the transcript is read from its start.
 */
export interface SavedTranscript {
  readonly version: 1;
  readonly chains: readonly ChainFacts[];
  readonly titles: SavedTitles;
  readonly records: readonly SavedRecord[];
  /** The records for uuids that are now those of another record. */
  readonly moved: readonly (readonly [uuid: string, node: NodeIndex])[];
  readonly seen: SavedIds;
  readonly calls: readonly (readonly [id: string, facts: CallFacts])[];
  readonly replies: readonly OpenReplyState[];
  /** The last step, and what is known of its end. */
  readonly step: StepState | null;
  /** The first record that the later reading turns into entries. */
  readonly next: NodeIndex;
  readonly placement: SavedPlacement;
  /** The last entry of records whose uuid is not its id. */
  readonly lastIds: readonly (readonly [node: NodeIndex, id: EntryId])[];
  readonly lastTimeMs: number;
}

type SavedRecord = readonly [
  kind: RecordKind,
  uuid: string,
  line: number,
  offset: number,
  bytes: number,
  parent: NodeIndex,
  reply: NodeIndex,
  chain: number,
  hasStepChild: 0 | 1,
];

/** The titles of a transcript; `isHere`: the record of a summary is in it. */
export interface SavedTitles {
  readonly user?: string | undefined;
  readonly ai?: string | undefined;
  readonly summaries: readonly { readonly title: string; readonly leafUuid: string; readonly isHere: boolean }[];
}

/** A reply that may get further lines. */
export type OpenReplyState = readonly [messageId: string, first: NodeIndex, requestId: string | undefined];

export interface StepState {
  readonly node: NodeIndex;
  hasEnded: boolean;
  goesOn: boolean;
}

/** The links of a placement: of the root, then of each record before `next`. */
export interface SavedPlacement {
  readonly settled: readonly number[];
  readonly end: readonly number[];
  readonly parent: readonly NodeIndex[];
  readonly lastPlaced: NodeIndex;
  readonly lastStep: NodeIndex;
}

/** The state of the indexing of a transcript at the end of its complete lines. */
export interface IndexState {
  readonly file: SessionFile;
  /** The first record that later lines may still change; the number of records if there is none. */
  readonly next: NodeIndex;
  readonly count: number;
  readonly step: StepState | undefined;
  readonly titles: SavedTitles;
  readonly replies: readonly OpenReplyState[];
  /** The ids before those of the index, in a reading that continues an earlier one. */
  readonly earlier: SavedIds | undefined;
  readonly end: Pick<ReadingPosition, "offset" | "line">;
}

/** The first record that is saved; undefined: the transcript is read from its start again. `step`: the last one that was placed. */
export function firstSaved({ file, next, count, step }: IndexState, lastStep: NodeIndex): NodeIndex | undefined {
  const first = Math.max(0, Math.min(next, lastStep, step?.node ?? next, count - KNOWN_RECORDS));
  return count - first > MOST_RECORDS || !isSimple(file, next, count) ? undefined : first;
}

/** True if nothing is open but the lines of a reply, and reports, in a transcript of one session. */
function isSimple({ records, isChain, chains, problems, repeatedResults, renamed }: SessionFile, next: NodeIndex, count: number): boolean {
  if (isChain || chains.filter(({ records: some }) => some > 0).length !== 1) return false;
  for (let node = next; node < count; node += 1) {
    const kind = records.get(node)?.kind;
    if (kind === "boundary" || kind === "summary" || problems.has(node) || repeatedResults.has(node) || renamed.has(node)) return false;
  }
  return true;
}

/** The part of a saved transcript that its index has. */
export function saveIndex(state: IndexState, first: NodeIndex): Omit<SavedTranscript, "placement" | "lastIds" | "lastTimeMs"> | undefined {
  const { file, count } = state;
  const shift = (node: NodeIndex) => (node < 0 ? node : node < first || node >= count ? BEFORE : node - first);
  const calls: (readonly [id: string, facts: CallFacts])[] = [];
  for (const call of file.calls) {
    const { reply, answer = count } = call[1];
    // The answer of an earlier call may be among the records that are read again.
    if (reply >= first || answer >= first) calls.push(call);
  }
  const seen = seenIds(state, first);
  if (calls.length > MOST_CALLS || state.titles.summaries.length > MOST_TITLES || seen === undefined) return undefined;
  const records = file.records.slice(first, count);
  return {
    version: 1,
    chains: file.chains,
    titles: state.titles,
    records: records.map(({ kind, uuid, line, offset, bytes, parent, reply, chain, hasStepChild }) => [
      ...([kind, uuid, line, offset, bytes, shift(parent), shift(reply), chain, hasStepChild ? 1 : 0] as const),
    ]),
    moved: records.flatMap(({ uuid }, at) => {
      const node = shift(file.nodeOf.get(uuid) ?? at + first);
      return uuid === "" || node === at ? [] : [[uuid, node] as const];
    }),
    seen,
    calls: calls.map(([id, facts]) => [
      id,
      { ...facts, reply: shift(facts.reply), ...(facts.answer === undefined ? {} : { answer: shift(facts.answer) }) },
    ]),
    replies: state.replies.flatMap(([id, node, request]) => (node < first ? [] : [[id, node - first, request] as const])),
    step: state.step === undefined ? null : { ...state.step, node: shift(state.step.node) },
    next: state.next - first,
  };
}

function seenIds({ file, replies, earlier }: IndexState, first: NodeIndex): SavedIds | undefined {
  const old = replies.flatMap(([id, node]) => (node < first ? [id] : []));
  const seen = earlier === undefined ? SeenIds.for(file.nodeOf.size + file.calls.size + old.length) : SeenIds.from(earlier);
  // One by one: the ids of a file of 1 GB take 100 MB as a list.
  for (const ids of [file.nodeOf.keys(), file.calls.keys(), old])
    for (const id of ids) if (earlier === undefined || !seen.has(id)) seen.add(id);
  return seen.state;
}

/** The records of a saved transcript, as its index had them. */
export function restoreRecords({ records }: SavedTranscript): RecordTable {
  const table = new RecordTable();
  for (const [kind, uuid, line, offset, bytes, parent, reply, chain, hasStepChild] of records)
    table.push({ kind, uuid, line, offset, bytes, parent, reply, chain, hasStepChild: hasStepChild === 1, object: undefined });
  return table;
}

/** The saved transcript of a position; undefined: it has none, or one of another version of Bough. */
export function savedIn(position: ReadingPosition | undefined): SavedTranscript | undefined {
  const text = position?.state.transcript;
  const saved: SavedTranscript | undefined = typeof text === "string" ? JSON.parse(text) : undefined;
  return saved?.version === 1 ? saved : undefined;
}

/** The link of an agent to its call, as a reading found it. */
export type AgentLink = Pick<SourceHeader, "title" | "parent">;

/** The position with the link of the agent, which a later reading need not look for in the file of the starter. */
export function withLink(position: ReadingPosition | undefined, { title, parent }: AgentLink): ReadingPosition | undefined {
  return position && { ...position, state: { ...position.state, link: JSON.stringify({ title, parent }) } };
}

export function linkIn(position: ReadingPosition | undefined): AgentLink | undefined {
  const text = position?.state.link;
  const link: AgentLink | undefined = typeof text === "string" ? JSON.parse(text) : undefined;
  return link;
}
