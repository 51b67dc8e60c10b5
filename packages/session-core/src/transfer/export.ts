import { CALLBACK, checkArgument, FLAG, list, oneOf, optional, record, TEXT, withMethods } from "../arguments/rules.js";
import type { Entry } from "../entry/entry.js";
import type { MarkdownOptions, Subagent } from "../formats/markdown/markdown-writer.js";
import type { EntryId } from "../ids/ids.js";
import type { SecretCount } from "../secrets/secret.js";
import { SessionMasker } from "../secrets/session-masker.js";
import type { Session } from "../session/session.js";

// The writers of formats are loaded with the first export: they are a quarter of the code, and most processes export nothing.
const SESSION = withMethods("a session", "record", "walk", "entries");
const SECRETS = { secrets: optional(oneOf("mask", "keep")), onMasked: optional(CALLBACK) };
const BOUGH = record(SECRETS);
const PI = record({ ...SECRETS, branch: optional(TEXT) });
const MARKDOWN = record({
  ...SECRETS,
  branch: optional(TEXT),
  toolOutput: optional(oneOf("none", "short", "full")),
  thinking: optional(FLAG),
  from: optional(TEXT),
  to: optional(TEXT),
  asset: optional(CALLBACK),
  subagents: optional(list(SESSION, "an array of sessions")),
  includeSubagents: optional(FLAG),
});

/** What happens to the secrets of a session that is exported. */
export interface SecretOptions {
  /**
   * `mask` replaces what `findSecrets` finds, values of `.env` files and values that are named as secrets by `[GitHub token 1]` and
   * the like. A secret has the same number in every export of the session, for which the session is read twice. Default: `mask` for
   * Markdown; `keep` for JSONL, so that importing it gives the same session.
   */
  readonly secrets?: "mask" | "keep" | undefined;
  /** Called after the last piece with the number of masked secrets of each kind. */
  readonly onMasked?: ((counts: readonly SecretCount[]) => void) | undefined;
}

/**
 * A masker that has learned every secret of a session, on all branches.
 *
 * Cost: reads the session once.
 */
export async function learnSecrets(session: Session): Promise<SessionMasker> {
  checkArgument("session", session, SESSION);
  const masker = new SessionMasker();
  for await (const entry of session.entries()) masker.learn(entry);
  return masker;
}

/**
 * Exports a session in Bough's JSONL format, line by line with line breaks: all branches, labels, leaves and values. Importing
 * it gives the same tree, labels and contexts, unless its secrets are masked.
 */
export async function* exportBough(session: Session, options: SecretOptions = {}): AsyncGenerator<string, void, void> {
  checkArgument("session", session, SESSION);
  checkArgument("options", options, BOUGH);
  const { value, entries, seen } = await masking(session, options, "keep");
  const [header, labels, leaves, values] = await Promise.all([
    session.record(),
    session.labels.list(),
    session.leaves(),
    session.values.list(),
  ]);
  const { boughLines } = await import("../formats/bough/write.js");
  const parts = value({ session: header, labels, leaves, values });
  yield* seen(endLines(boughLines({ ...parts, entries: entries(session.entries()) })));
}

/** The part of a session to export. */
export interface PiExportOptions extends SecretOptions {
  /** Only the path to this entry. Default: the whole tree, with the leaf as pi's position. */
  readonly branch?: EntryId | undefined;
}

/** Exports a session in pi's JSONL format, version 3, line by line: the whole tree, or one branch. */
export async function* exportPi(session: Session, options: PiExportOptions = {}): AsyncGenerator<string, void, void> {
  checkArgument("session", session, SESSION);
  checkArgument("options", options, PI);
  const { value, entries, seen } = await masking(session, options, "keep");
  const header = value(await session.record());
  const whole = options.branch === undefined;
  const onPath = whole ? undefined : new Set(await pathIds(session, options.branch ?? null));
  const labels = value(await session.labels.list()).filter(({ entryId }) => onPath?.has(entryId) ?? true);
  const walked = entries(whole ? session.entries() : session.walk({ leafId: options.branch ?? null }));
  const leafId = options.branch ?? (await readLeaf(session));
  const { piLines } = await import("../formats/pi-export/write.js");
  yield* seen(
    endLines(piLines({ session: { ...header, parentSessionId: header.parent?.sessionId ?? null }, entries: walked, labels, leafId })),
  );
}

/** The branch to export, and the parts of it. */
export interface MarkdownExportOptions extends MarkdownOptions, SecretOptions {
  /** The end of the branch; default: the leaf. */
  readonly branch?: EntryId | undefined;
  /** The sessions that calls of this one started; each is named below its call, with the command that exports it. */
  readonly subagents?: readonly Session[] | undefined;
  /** Whether the sessions of `subagents` are included, folded below their calls. Each is held as text. Default: false. */
  readonly includeSubagents?: boolean | undefined;
}

/** Exports a branch as a Markdown document for people, in pieces. Secrets are masked unless `secrets` is `keep`. */
export async function* exportMarkdown(session: Session, options: MarkdownExportOptions = {}): AsyncGenerator<string, void, void> {
  checkArgument("session", session, SESSION);
  checkArgument("options", options, MARKDOWN);
  const { branch, subagents = [], ...shown } = options;
  const masked = await masking(session, options, "mask", subagents);
  const leafId = branch ?? (await readLeaf(session));
  const [header, labels, { model }] = await Promise.all([session.record(), session.labels.list(), session.settings(leafId)]);
  const isFlat = branch === undefined && (await hasNoParents(session));
  const read = () => masked.entries(isFlat ? session.entries() : session.walk({ leafId }));
  const { collectTurns } = await import("../formats/markdown/contents.js");
  const { markdownOf } = await import("../formats/markdown/markdown.js");
  const names = new Map(masked.value(labels).map(({ entryId, label }) => [entryId, label]));
  const isRange = options.from !== undefined || options.to !== undefined;
  const document = {
    session: masked.value(header),
    model: masked.value(model?.modelId ?? null),
    entries: read(),
    labels: names,
    contents: isRange ? [] : await collectTurns(read(), names, header.cwd),
    subagents: await readSubagents(subagents, options, masked),
    maskedSecrets: masked.counts,
  };
  yield* masked.seen(markdownOf(document, shown));
}

/** Whether several entries have no parent and none has one, as in files of programs that record no tree. */
async function hasNoParents(session: Session): Promise<boolean> {
  const { entryCount } = await session.record();
  return entryCount > 1 && (await session.tree.children(null)).length === entryCount;
}

async function readSubagents(
  sessions: readonly Session[],
  options: MarkdownExportOptions,
  masked: Masking,
): Promise<ReadonlyMap<string, Subagent>> {
  const { subagentSectionsOf } = await import("../formats/markdown/markdown.js");
  const subagents = new Map<string, Subagent>();
  for (const session of sessions) {
    const header = masked.value(await session.record());
    const callId = header.parent?.toolCallId;
    if (callId === null || callId === undefined) continue;
    const leafId = await readLeaf(session);
    const document = { session: header, model: null, entries: masked.entries(session.walk({ leafId })), labels: new Map<string, string>() };
    const sections = options.includeSubagents === true ? await subagentSectionsOf(document, options) : undefined;
    subagents.set(callId, { id: header.id, title: header.title ?? header.firstText ?? header.id, sections });
  }
  return subagents;
}

/** How an export masks: values, entries, and the pieces that come out of it. */
interface Masking {
  readonly value: <T>(given: T) => T;
  readonly entries: (given: AsyncIterable<Entry>) => AsyncIterable<Entry>;
  readonly seen: (pieces: AsyncIterable<string>) => AsyncGenerator<string, void, void>;
  /** What is masked in the pieces so far. */
  readonly counts: () => readonly SecretCount[];
}

async function masking(
  session: Session,
  { secrets, onMasked }: SecretOptions,
  otherwise: "mask" | "keep",
  others: readonly Session[] = [],
): Promise<Masking> {
  if ((secrets ?? otherwise) === "keep") return NO_MASKING;
  const masker = await learnSecrets(session);
  for (const other of others) for await (const entry of other.entries()) masker.learn(entry);
  return {
    value: (given) => masker.maskValue(given),
    entries: async function* (given) {
      for await (const entry of given) yield masker.maskEntry(entry);
    },
    seen: async function* (pieces) {
      for await (const piece of pieces) {
        masker.see(piece);
        yield piece;
      }
      onMasked?.(masker.seenCounts());
    },
    counts: () => masker.seenCounts(),
  };
}

const NO_MASKING: Masking = {
  value: (given) => given,
  entries: (given) => given,
  seen: async function* (pieces) {
    yield* pieces;
  },
  counts: () => [],
};

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
