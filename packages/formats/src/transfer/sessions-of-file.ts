import type { ReadingPosition, SourceSession } from "@bough/session-core/engine";
import { isObject, type JsonObject } from "@bough/session-core/wire";
import { readHeadOnce } from "../source/json-lines.js";
import type { SourceFolders } from "../source/source-folders.js";
import type { SourceFormat } from "../source/source-format.js";

/** The format of a file; undefined: none of them. */
export function detectFormat(path: string, formats: readonly SourceFormat[], folders: SourceFolders): SourceFormat | undefined {
  const head = readHeadOnce(path, folders);
  return formats.find((format) => format.detects(head, folders));
}

/** The sessions of a file as an import reads them, in this thread. `reads`, `earlier`: as in `SourceFormat.sessions`. */
export function* sessionsOfFile(
  path: string,
  format: SourceFormat,
  folders: SourceFolders,
  reads?: (path: string) => boolean,
  earlier?: (path: string) => ReadingPosition | undefined,
): Generator<SourceSession, void, void> {
  // A file of ours says itself what it is, and brings back sessions of empty messages too.
  const isOwn = format.name === "bough";
  for (const session of format.sessions(path, folders, reads, earlier))
    yield isOwn ? session : withEmptyCheck(session, session.path ?? path);
}

/** The session, with a problem at the end of a first reading if it has messages and none of them has any content. */
function withEmptyCheck(session: SourceSession, path: string): SourceSession {
  const { header, path: own, position } = session;
  return {
    header,
    path: own,
    get revision() {
      return session.revision;
    },
    *records(from) {
      let messages = 0;
      let isEmpty = from === undefined;
      for (const record of session.records(from)) {
        if (isEmpty && record.kind === "entry" && isObject(record.payload) && isObject(record.payload.message)) {
          messages += 1;
          isEmpty = isEmptyMessage(record.payload.message);
        }
        yield record;
      }
      if (isEmpty && messages > 0) yield { kind: "problem", problem: { code: "invalid-record", path, line: null, message: EMPTY } };
    },
    ...(position === undefined ? {} : { position: () => session.position?.() }),
  };
}

const EMPTY = "every message of the session is empty; the file may be of another program, or of a version that is not known";

function isEmptyMessage({ role, content, errorMessage }: JsonObject): boolean {
  return (
    role !== "bashExecution" &&
    errorMessage === undefined &&
    (content === undefined || content === "" || (Array.isArray(content) && content.length === 0))
  );
}
