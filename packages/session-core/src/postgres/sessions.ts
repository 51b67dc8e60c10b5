import type { SessionId } from "../ids/ids.js";
import type * as records from "../port/records.js";
import type { MetadataPatch } from "../port/writes.js";
import type { PgDatabase } from "./database.js";
import type { FirstWrites } from "./write-rules.js";

export async function createSession(database: PgDatabase, session: records.NewSession, first: FirstWrites): Promise<records.SessionRecord> {
  throw new Error("not built yet");
}

export async function openSession(
  database: PgDatabase,
  id: SessionId,
  leafName: string,
  missing?: { readonly session: Omit<records.NewSession, "id">; readonly first: FirstWrites },
): Promise<records.OpenedSession> {
  throw new Error("not built yet");
}

export async function findSession(database: PgDatabase, key: records.SessionKey): Promise<records.SessionRecord | undefined> {
  throw new Error("not built yet");
}

export async function renameSession(database: PgDatabase, id: SessionId, title: string | null, source: "user" | "auto"): Promise<void> {
  throw new Error("not built yet");
}

export async function archiveSession(database: PgDatabase, id: SessionId, archived: boolean): Promise<void> {
  throw new Error("not built yet");
}

export async function deleteSession(database: PgDatabase, id: SessionId): Promise<void> {
  throw new Error("not built yet");
}

export async function setMetadata(database: PgDatabase, key: records.SessionKey, patch: MetadataPatch): Promise<void> {
  throw new Error("not built yet");
}
