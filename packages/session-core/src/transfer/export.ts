import { checkArgument, FLAG, oneOf, optional, record, TEXT, withMethods } from "../arguments/rules.js";
import type { Entry } from "../entry/entry.js";
import { boughLines } from "../formats/bough/write.js";
import { markdownOf } from "../formats/markdown/markdown.js";
import type { MarkdownOptions } from "../formats/markdown/markdown-writer.js";
import { piLines } from "../formats/pi-export/write.js";
import type { EntryId } from "../ids/ids.js";
import type { Session } from "../session/session.js";

const SESSION = withMethods("a session", "record", "walk", "entries");
const PI = record({ branch: optional(TEXT) });
const MARKDOWN = record({
  branch: optional(TEXT),
  toolOutput: optional(oneOf("none", "short", "full")),
  thinking: optional(FLAG),
  from: optional(TEXT),
  to: optional(TEXT),
});

/**
 * Exports a session in Bough's JSONL format, line by line with line breaks: all branches, labels, leaves and values. Importing
 * it gives the same tree, labels and contexts.
 */
export async function* exportBough(session: Session): AsyncGenerator<string, void, void> {
  checkArgument("session", session, SESSION);
  const [header, labels, leaves, values] = await Promise.all([
    session.record(),
    session.labels.list(),
    session.leaves(),
    session.values.list(),
  ]);
  yield* endLines(boughLines({ session: header, entries: session.entries(), labels, leaves, values }));
}

/** The part of a session to export. */
export interface PiExportOptions {
  /** Only the path to this entry. Default: the whole tree, with the leaf as pi's position. */
  readonly branch?: EntryId | undefined;
}

/** Exports a session in pi's JSONL format, version 3, line by line: the whole tree, or one branch. */
export async function* exportPi(session: Session, options: PiExportOptions = {}): AsyncGenerator<string, void, void> {
  checkArgument("session", session, SESSION);
  checkArgument("options", options, PI);
  const header = await session.record();
  const whole = options.branch === undefined;
  const onPath = whole ? undefined : new Set(await pathIds(session, options.branch ?? null));
  const labels = (await session.labels.list()).filter(({ entryId }) => onPath?.has(entryId) ?? true);
  const entries = whole ? session.entries() : session.walk({ leafId: options.branch ?? null });
  const leafId = options.branch ?? (await readLeaf(session));
  yield* endLines(piLines({ session: { ...header, parentSessionId: header.parent?.sessionId ?? null }, entries, labels, leafId }));
}

/** The branch to export, and the parts of it. */
export interface MarkdownExportOptions extends MarkdownOptions {
  /** The end of the branch; default: the leaf. */
  readonly branch?: EntryId | undefined;
}

/** Exports a branch as a Markdown document for people, in pieces. */
export async function* exportMarkdown(session: Session, options: MarkdownExportOptions = {}): AsyncGenerator<string, void, void> {
  checkArgument("session", session, SESSION);
  checkArgument("options", options, MARKDOWN);
  const { branch, ...shown } = options;
  const leafId = branch ?? (await readLeaf(session));
  const [header, labels, { model }] = await Promise.all([session.record(), session.labels.list(), session.settings(leafId)]);
  const names = new Map(labels.map(({ entryId, label }) => [entryId, label]));
  const document = { session: header, model: model?.modelId ?? null, entries: session.walk({ leafId }), labels: names };
  yield* markdownOf(document, shown);
}

/** The current leaf in the store: an export must contain turns that another process has appended. */
async function readLeaf(session: Session): Promise<EntryId | null> {
  return (await session.leaves()).find(({ name }) => name === session.leafName)?.entryId ?? null;
}

async function pathIds(session: Session, leafId: EntryId | null): Promise<readonly EntryId[]> {
  const ids: EntryId[] = [];
  for await (const entry of session.walk({ leafId })) ids.push((entry satisfies Entry).id);
  return ids;
}

async function* endLines(lines: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  for await (const line of lines) yield `${line}\n`;
}
