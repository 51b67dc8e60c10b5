import type { SessionSourceRow, SourceFileRecord, SourceSessionRecord } from "../port/source-files.js";
import type { PgDatabase } from "./database.js";

export async function listSourceFiles(database: PgDatabase, path: string): Promise<readonly SourceFileRecord[]> {
  throw new Error("not built yet");
}

export async function setSourceFiles(database: PgDatabase, files: readonly SourceFileRecord[]): Promise<void> {
  throw new Error("not built yet");
}

export async function listSourceSessions(database: PgDatabase, path: string): Promise<readonly SourceSessionRecord[]> {
  throw new Error("not built yet");
}

export async function listSessionSources(database: PgDatabase): Promise<readonly SessionSourceRow[]> {
  throw new Error("not built yet");
}

export async function setSourcesGone(
  database: PgDatabase,
  of: readonly Pick<SourceSessionRecord, "path" | "sourceId">[],
  goneAtMs: number | null,
): Promise<void> {
  throw new Error("not built yet");
}
