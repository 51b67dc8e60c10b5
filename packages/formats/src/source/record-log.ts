import { type ReadingPosition, RUNNING_MS, type SourceRecord, type SourceSession } from "@bough/session-core/engine";
import type { JsonObject } from "@bough/session-core/wire";
import { readJsonLines, type SourceLine } from "./json-lines.js";

/** Turns the records of one session into entries, in the order of the file. A reader of a format is this class and its header. */
export interface LogConversation {
  /** Reads the next record. Each record is an entry, an annotation or merged; now or later, when an entry is complete. */
  read(record: JsonObject, line: SourceLine): Iterable<SourceRecord>;
  /** True while records were read that become an entry with later ones, such as the pieces of a reply. */
  readonly isPending: boolean;
  /** True for a record that may become an entry with later ones: the state before it is made. Default: none does. */
  mayWait?(record: JsonObject): boolean;
  /** The state from which a later reading continues: a small JSON value. It is asked for only while nothing is pending. */
  readonly state: JsonObject;
  /** Completes what is pending at the end of the file, and says where the leaf is if not at the last entry. */
  finish(): Iterable<SourceRecord>;
}

/**
 * The `records` and `position` of a session whose file is a log: a JSON object a line, appended at the end. A sync reads a grown file
 * on from where the last reading ended, before records that become one entry with later ones; these are left out while the program
 * may still write.
 *
 * @param start makes the conversation, from the state of an earlier reading if there is one.
 * @param first what each reading yields before the records of the log: what other files say of the session, and problems of these.
 */
export function readRecordLog(
  path: string,
  start: (state: JsonObject | undefined) => LogConversation,
  first: readonly SourceRecord[] = [],
): Required<Pick<SourceSession, "records" | "position">> {
  let position: ReadingPosition | undefined;
  function* records(from?: ReadingPosition): Generator<SourceRecord, void, void> {
    yield* first;
    const conversation = start(from?.state);
    let end = from === undefined ? { offset: 0, line: 0 } : { offset: from.offset, line: from.line };
    /** The place before records that become one entry with later ones, or before a last line that may be torn. */
    let before: ReadingPosition | undefined;
    for (const read of readJsonLines(path, { from })) {
      if (read.kind === "problem") {
        yield read;
        continue;
      }
      const { line, object } = read;
      if (!line.hasLineBreak || conversation.mayWait?.(object) === true) before ??= { ...end, state: conversation.state };
      yield* conversation.read(object, line);
      if (conversation.isPending || !line.hasLineBreak) continue;
      before = undefined;
      end = { offset: line.offset + line.bytes + 1, line: line.number };
    }
    position = before ?? { ...end, state: conversation.state };
    if (conversation.isPending) yield { kind: "open", waitMs: RUNNING_MS };
    yield* conversation.finish();
  }
  return { records, position: () => position };
}
