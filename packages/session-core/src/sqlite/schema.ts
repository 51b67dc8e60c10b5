import type { Generated, GeneratedAlways, Selectable } from "kysely";
import type { EntryType } from "../entry/entry.js";
import type { MessageRole } from "../entry/message.js";
import type { AddedUsage } from "../entry/usage.js";
import type { CounterSeq, EntrySeq, SessionSeq } from "../ids/ids.js";
import type { FileOperationKind } from "../tools/file-operations.js";

// One interface for each table. The migrations give the unit of each column and the meaning of NULL.

interface SessionColumns {
  seq: Generated<SessionSeq>;
  id: string;
  kind: "conversation" | "subagent";
  title: string | null;
  title_source: "user" | "auto" | null;
  cwd: string | null;
  created_at_ms: number;
  active_at_ms: number;
  archived_at_ms: Generated<number | null>;
  parent_session_id: string | null;
  parent_entry_id: string | null;
  parent_call_id: string | null;
  parent_found: Generated<0 | 1>;
  entry_count: Generated<number>;
  message_count: Generated<number>;
  payload_bytes: Generated<number>;
  first_text: Generated<string | null>;
  source_format: string | null;
  source_path: string | null;
  source_id: string | null;
  metadata_json: string | null;
  row_count: Generated<number>;
  row_bytes: Generated<number>;
  listing: GeneratedAlways<number>;
}

/** A row of the table `session`, by column name. `toSessionRecord` converts it to a `SessionRecord`. */
export type SessionTable = Selectable<SessionColumns>;

interface SessionMetadataTable {
  key: string;
  value: string;
  session_seq: SessionSeq;
}

/** A row of the table `entry`. The constraints of its columns are in migrations/0004-payloads-apart.ts and 0005-reads-by-index.ts. */
export interface EntryTable {
  seq: EntrySeq;
  session_seq: SessionSeq;
  id: string;
  parent_seq: EntrySeq | null;
  kind: number;
  type: EntryType;
  role: MessageRole | null;
  depth: number;
  created_at_ms: number;
  compaction_seq: EntrySeq | null;
  target_seq: EntrySeq | null;
  model_seq: EntrySeq | null;
  thinking_seq: EntrySeq | null;
  system_seq: EntrySeq | null;
  call_id: string | null;
  is_error: 0 | 1;
  omits: 0 | 1;
  inherited: 0 | 1;
  payload_bytes: number;
  preview: string;
  custom_type: string | null;
  origin: string | null;
}

/** The columns of the table `entry` that are stored. */
export type StoredEntry = Omit<EntryTable, "type" | "role">;

interface EntryColumns extends StoredEntry {
  type: GeneratedAlways<EntryType>;
  role: GeneratedAlways<MessageRole | null>;
}

interface PayloadTable {
  entry_seq: EntrySeq;
  json: string;
}

interface PayloadBlockTable {
  seq: Generated<number>;
  session_seq: SessionSeq;
  first_seq: EntrySeq;
  last_seq: EntrySeq;
  entries: number;
  payload_bytes: number;
  codec: number;
  checksum: number;
  data: Buffer;
}

interface LeafTable {
  session_seq: SessionSeq;
  name: string;
  entry_seq: EntrySeq | null;
}

export interface LeafMoveTable {
  seq: number;
  session_seq: SessionSeq;
  leaf_name: string;
  from_seq: EntrySeq | null;
  to_seq: EntrySeq | null;
  moved_at_ms: number;
  state: "done" | "undone" | "dropped";
  resume_seq: EntrySeq | null;
}

interface LabelTable {
  session_seq: SessionSeq;
  entry_seq: EntrySeq;
  label: string;
  created_at_ms: number;
}

interface ValueTable {
  session_seq: SessionSeq;
  key: string;
  value_json: string;
  updated_at_ms: number;
  large_bytes: number | null;
}

interface LargeValueTable {
  seq: Generated<number>;
  session_seq: SessionSeq;
  key: string;
  json: string;
}

/** An entry by which the tree is known: one without children, or one with several. */
interface TreeMarkTable {
  session_seq: SessionSeq;
  entry_seq: EntrySeq;
}

interface KindCountTable {
  session_seq: SessionSeq;
  kind: number;
  entries: number;
}

export interface FileOperationTable {
  entry_seq: EntrySeq;
  ordinal: number;
  tool_call_id: string;
  kind: FileOperationKind;
  path: string;
  nested: 0 | 1;
}

export interface UsageTotalTable extends AddedUsage {
  session_seq: SessionSeq;
  inherited: 0 | 1;
}

interface TokenCounterTable {
  seq: Generated<CounterSeq>;
  name: string;
}

interface EntryTokenCountTable {
  entry_seq: EntrySeq;
  counter_seq: CounterSeq;
  tokens: number;
}

interface EntryWaypointTable {
  entry_seq: EntrySeq;
  above_seq: EntrySeq;
}

interface PrivateEntryTable {
  entry_seq: EntrySeq;
}

interface EntryTextTable {
  rowid: EntrySeq;
  body: string;
  entry_text: GeneratedAlways<string>;
  rank: GeneratedAlways<number>;
}

interface SessionTextTable {
  rowid: SessionSeq;
  title: string;
  session_text: GeneratedAlways<string>;
  rank: GeneratedAlways<number>;
}

interface WordTable {
  word: string;
}

interface StoreStateTable {
  only_row: 1;
  deleted_seq: EntrySeq;
  indexed_seq: EntrySeq;
}

interface SourceFileTable {
  path: string;
  stamp: string;
  format: string | null;
}

interface SourceSessionTable {
  path: string;
  source_id: string;
  session_seq: SessionSeq | null;
  revision: string | null;
  leaf_id: string | null;
  title: string | null;
  position_json: string | null;
  gone_at_ms: number | null;
  held_until_ms: number | null;
}

/** The tables of a store, for Kysely. */
export interface Tables {
  session: SessionColumns;
  session_metadata: SessionMetadataTable;
  entry: EntryColumns;
  payload: PayloadTable;
  payload_block: PayloadBlockTable;
  leaf: LeafTable;
  leaf_move: LeafMoveTable;
  label: LabelTable;
  value: ValueTable;
  large_value: LargeValueTable;
  file_operation: FileOperationTable;
  usage_total: UsageTotalTable;
  token_counter: TokenCounterTable;
  entry_token_count: EntryTokenCountTable;
  entry_waypoint: EntryWaypointTable;
  private_entry: PrivateEntryTable;
  entry_text: EntryTextTable;
  session_text: SessionTextTable;
  word: WordTable;
  source_file: SourceFileTable;
  source_session: SourceSessionTable;
  store_state: StoreStateTable;
  tip: TreeMarkTable;
  branch_point: TreeMarkTable;
  kind_count: KindCountTable;
}
