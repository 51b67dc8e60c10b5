import {
  type EntryId,
  type FileTools,
  type SearchPage,
  type SearchRequest,
  type SessionId,
  UnsupportedOperationError,
  type Write,
} from "@bough/session-core";
import type * as records from "@bough/session-core/engine";
import type * as port from "@bough/session-core/engine";
import {
  type Abilities,
  type Batch,
  type BatchResult,
  copyJson,
  copyPatch,
  copyWrites,
  loadedValidation,
  loadValidation,
  type MetadataPatch,
  type PayloadPacking,
  type SessionCopies,
  type SourceFileRecord,
  type SourceSession,
  type SourceSessionRecord,
} from "@bough/session-core/engine";
import { commitBatch } from "./commit.js";
import { copiesOf } from "./copies.js";
import type { PgDatabase } from "./database.js";
import { forkSession } from "./fork.js";
import { importSession } from "./import.js";
import * as leaves from "./leaves.js";
import { PostgresReads } from "./postgres-reads.js";
import { search } from "./search.js";
import * as sessions from "./sessions.js";
import * as files from "./source-files.js";
import { saveTokenCounts } from "./values.js";
import { findViolations } from "./verify.js";
import type { FirstWrites, WriteRules } from "./write-rules.js";

/** The storage port on a schema of a PostgreSQL server. Each operation is one transaction. */
export class PostgresStorage extends PostgresReads implements port.SessionStorage {
  readonly #fileTools: FileTools;
  readonly abilities: Abilities = ON_A_SERVER;
  readonly files: readonly string[] = [];
  readonly packing: PayloadPacking = NOTHING_TO_PACK;
  readonly copies: SessionCopies;

  constructor(database: PgDatabase, fileTools: FileTools) {
    super(database);
    this.copies = copiesOf(database);
    this.#fileTools = fileTools;
  }

  async createSession(session: records.NewSession, writes: readonly Write[] = []): Promise<records.SessionRecord> {
    return sessions.createSession(this.database, copySession(session), await this.#firstWrites(writes));
  }

  async openSession(id: SessionId, leafName: string, missing?: port.MissingSession): Promise<records.OpenedSession> {
    const created = missing && { session: copySession(missing.session), first: await this.#firstWrites(missing.writes) };
    return sessions.openSession(this.database, id, leafName, created);
  }

  async #firstWrites(writes: readonly Write[]): Promise<FirstWrites> {
    return writes.length === 0 ? undefined : { writes: copyWrites(writes), rules: await this.#rules() };
  }

  async #rules(): Promise<WriteRules> {
    return { validateEntry: loadedValidation() ?? (await loadValidation()), fileTools: this.#fileTools };
  }

  async renameSession(id: SessionId, title: string | null, source: "user" | "auto"): Promise<void> {
    await sessions.renameSession(this.database, id, title, source);
  }

  async archiveSession(id: SessionId, archived: boolean): Promise<void> {
    await sessions.archiveSession(this.database, id, archived);
  }

  async deleteSession(id: SessionId): Promise<void> {
    await sessions.deleteSession(this.database, id);
  }

  async forkSession(id: SessionId, fork: records.Fork, writes: readonly Write[] = []): Promise<records.SessionRecord> {
    const copy = { ...fork, into: copySession(fork.into) };
    return forkSession(this.database, id, copy, await this.#firstWrites(writes));
  }

  async setMetadata(key: records.SessionKey, patch: MetadataPatch): Promise<void> {
    await sessions.setMetadata(this.database, key, copyPatch(patch));
  }

  async leaf(key: records.SessionKey, name: string, at?: records.LeafState): Promise<records.LeafState> {
    return at === undefined ? leaves.readLeaf(this.database, key, name) : leaves.openLeaf(this.database, key, name, at);
  }

  async deleteLeaf(id: SessionId, name: string): Promise<void> {
    await leaves.deleteLeaf(this.database, id, name);
  }

  async commit(batch: Batch): Promise<BatchResult> {
    // Without a wait there is no `await` before the batch is copied, so that later changes by its owner are not written.
    const validateEntry = loadedValidation();
    if (validateEntry !== undefined) return commitBatch(this.database, batch, { validateEntry, fileTools: this.#fileTools });
    return commitBatch(this.database, { ...batch, writes: copyWrites(batch.writes) }, await this.#rules());
  }

  async undoMove(key: records.SessionKey, leafName: string): Promise<records.LeafState | undefined> {
    return leaves.undoMove(this.database, key, leafName);
  }

  async redoMove(key: records.SessionKey, leafName: string): Promise<records.LeafState | undefined> {
    return leaves.redoMove(this.database, key, leafName);
  }

  async saveTokenCounts(key: records.SessionKey, counter: string, counts: ReadonlyMap<EntryId, number>): Promise<void> {
    await saveTokenCounts(this.database, key, counter, new Map(counts));
  }

  async search(request: SearchRequest): Promise<SearchPage> {
    return search(this.database, request);
  }

  /** Nothing to do: entries are indexed in the transaction that writes them. */
  async catchUpSearch(): Promise<number> {
    return 0;
  }

  /** Nothing to do: the server merges the parts of its index. */
  async mergeSearchIndex(): Promise<boolean> {
    return false;
  }

  async importSession(source: SourceSession, options: port.ImportOptions): Promise<port.ImportedSession> {
    return importSession(this.database, source, options, await this.#rules());
  }

  async setSourceFiles(records: readonly SourceFileRecord[]): Promise<void> {
    await this.database.write((transaction) => files.setSourceFiles(transaction, records));
  }

  async setSourcesGone(of: readonly Pick<SourceSessionRecord, "path" | "sourceId">[], goneAtMs: number | null): Promise<void> {
    await this.database.write((transaction) => files.setSourcesGone(transaction, of, goneAtMs));
  }

  verify(id?: SessionId): AsyncIterable<port.Violation> {
    return findViolations(this.database, id);
  }

  async backup(): Promise<void> {
    throw new UnsupportedOperationError("A backup of a store on a server is made by the server.", "Use pg_dump: see docs/postgres.md.");
  }

  async close(): Promise<void> {
    await this.database.close();
  }
}

const ON_A_SERVER: Abilities = { sharedBy: "network", backup: false, packing: false, indexesLater: false, numbers: "session" };

/** A server stores payloads in one form, and looks after its files itself. */
const NOTHING_TO_PACK: PayloadPacking = {
  next: async () => undefined,
  nextInBulk: async () => undefined,
  unpacked: async () => ({ entries: 0, bytes: 0 }),
  fileSize: async () => ({ bytes: 0, freeBytes: 0 }),
  shrinkFile: async () => false,
};

/** A copy of a new session, so that later changes by its owner are not written. */
function copySession<S extends Pick<records.NewSession, "metadata">>(session: S): S {
  return { ...session, metadata: session.metadata && copyJson(session.metadata, "metadata") };
}
