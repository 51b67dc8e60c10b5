import { readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { SourceNotFoundError, UnknownFormatError } from "../errors/import-errors.js";

/** A file to look at. */
export interface SourceFile {
  readonly path: string;
  readonly bytes: number;
}

/** Folders that hold no sessions and very many files. */
const SKIPPED = new Set(["node_modules", ".git"]);

/**
 * The files at `path`: itself, or every file below it in order of name. A file that several links lead to is given
 * once (regression R162); what cannot be read is passed over.
 *
 * @throws {SourceNotFoundError} nothing is at `path`.
 * @throws {UnknownFormatError} a pipe, a device or a socket is: opening one may wait for ever, and it cannot be read twice.
 */
export function sourceFiles(path: string): { readonly isFolder: boolean; readonly files: readonly SourceFile[] } {
  const stats = statOf(path);
  if (stats === undefined) throw new SourceNotFoundError(path);
  if (!stats.isDirectory() && !stats.isFile()) throw new UnknownFormatError(path, "it is neither a file nor a folder");
  if (!stats.isDirectory()) return { isFolder: false, files: [{ path, bytes: stats.size }] };
  const files: SourceFile[] = [];
  collect(path, new Set(), files);
  return { isFolder: true, files };
}

function collect(folder: string, seen: Set<string>, files: SourceFile[]): void {
  if (!isNew(folder, seen)) return;
  for (const name of namesIn(folder)) {
    const path = join(folder, name);
    const stats = statOf(path);
    if (stats?.isDirectory() === true && !SKIPPED.has(name)) collect(path, seen, files);
    else if (stats?.isFile() === true && stats.size > 0 && isNew(path, seen)) files.push({ path, bytes: stats.size });
  }
}

function isNew(path: string, seen: Set<string>): boolean {
  const real = realpathSync(path);
  if (seen.has(real)) return false;
  seen.add(real);
  return true;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    if (isFileSystemError(error)) return [];
    throw error;
  }
}

function statOf(path: string) {
  try {
    return statSync(path);
  } catch (error) {
    if (isFileSystemError(error)) return undefined;
    throw error;
  }
}

function isFileSystemError(error: unknown): boolean {
  return error instanceof Error && "errno" in error;
}
