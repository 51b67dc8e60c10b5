import type { Entry, EntryId, Session, SessionId, SessionRecord } from "@bough/session-core";
import {
  CALLBACK,
  checkArgument,
  FLAG,
  list,
  oneOf,
  optional,
  options as optionsOf,
  type RulesOf,
  record,
  TEXT,
  withMethods,
} from "@bough/session-core/arguments";
import type { MarkdownOptions, Subagent } from "../markdown/markdown-writer.js";
import type { SecretCount } from "../secrets/secret.js";
import { SessionMasker } from "../secrets/session-masker.js";
import type { ToolAgent } from "./common-calls.js";

// The writers of formats are loaded with the first export: they are a quarter of the code, and most processes export nothing.
const SESSION = withMethods("a session", "record", "walk", "entries");
const SECRETS = { secrets: optional(oneOf("mask", "keep")), onMasked: optional(CALLBACK) } satisfies RulesOf<SecretOptions>;
const BOUGH = optionsOf(SECRETS);
const BRANCH = optionsOf({
  ...SECRETS,
  branch: optional(TEXT),
  continues: optional(record({ sessionId: TEXT, cwd: TEXT })),
} satisfies RulesOf<BranchExportOptions>);
const MARKDOWN = optionsOf({
  ...SECRETS,
  branch: optional(TEXT),
  toolOutput: optional(oneOf("none", "short", "full")),
  thinking: optional(FLAG),
  from: optional(TEXT),
  to: optional(TEXT),
  asset: optional(CALLBACK),
  prices: optional(withMethods("a PriceList", "cost", "costOfStep")),
  subagents: optional(list(SESSION, "an array of sessions")),
  includeSubagents: optional(FLAG),
} satisfies RulesOf<MarkdownExportOptions>);

/** Options of an export for the secrets of the session. */
export interface SecretOptions {
  /**
   * `mask` replaces what `findSecrets` finds, values of `.env` files and values that are named as secrets by `[GitHub token 1]` and
   * the like. A secret has the same number in every export of the session, for which the session is read twice. `keep` writes
   * everything, so that importing the file gives the same session. Default: `mask`, as the command `bough export` does.
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
 * it gives the same tree, labels and contexts; `secrets: "keep"` keeps the secrets in them too, as a backup needs it.
 */
export async function* exportBough(session: Session, options: SecretOptions = {}): AsyncGenerator<string, void, void> {
  checkArgument("session", session, SESSION);
  checkArgument("options", options, BOUGH);
  const { value, entries, seen } = await masking(session, options);
  const [header, labels, leaves, values] = await Promise.all([
    session.record(),
    session.labels.list(),
    session.leaves(),
    session.values.list(),
  ]);
  const { boughLines } = await import("../bough/write.js");
  const parts = value({ session: header, labels, leaves, values });
  yield* seen(endLines(boughLines({ ...parts, entries: entries(session.entries()) })));
}

/** A new session of a program that continues from the end of a branch. */
export interface Continuation {
  /** The id of the new session. */
  readonly sessionId: SessionId;
  /** The working directory in which the program is started. */
  readonly cwd: string;
}

/** The branch to export, for a program that continues it. */
export interface BranchExportOptions extends SecretOptions {
  /** The end of the branch. Default: the leaf; for pi without \`continues\`: the whole tree, with the leaf as its position. */
  readonly branch?: EntryId | undefined;
  /** The session that is written instead of this one. Unless this one was imported from the program, calls
   * of tools that it does not have, and their results, are texts in it. */
  readonly continues?: Continuation | undefined;
}

/** Exports a session in pi's JSONL format, version 3, line by line: the whole tree, or one branch. */
export async function* exportPi(session: Session, options: BranchExportOptions = {}): AsyncGenerator<string, void, void> {
  checkArgument("session", session, SESSION);
  checkArgument("options", options, BRANCH);
  const { continues } = options;
  const { value, entries, seen } = await masking(session, options);
  const leafId = options.branch ?? (await readLeaf(session));
  const whole = options.branch === undefined && continues === undefined;
  const onPath = whole ? undefined : new Set(await pathIds(session, leafId));
  const labels = value(await session.labels.list()).filter(({ entryId }) => onPath?.has(entryId) ?? true);
  const walked = entries(whole ? session.entries() : session.walk({ leafId }));
  const header = value(await session.record());
  const { piLines } = await import("../pi/write.js");
  const exported = await continuation(header, walked, "pi", continues);
  const parentSessionId = header.parent?.sessionId ?? null;
  yield* seen(endLines(piLines({ session: { parentSessionId, ...exported.session }, entries: exported.entries, labels, leafId })));
}

/**
 * Exports a branch as a transcript of Claude Code, line by line, with its context edits applied. Importing it gives the same entries;
 * docs/formats/claude.md lists the losses. Cost: reads the branch twice.
 *
 * @example
 * for await (const line of exportClaude(session)) process.stdout.write(line);
 */
export async function* exportClaude(session: Session, options: BranchExportOptions = {}): AsyncGenerator<string, void, void> {
  checkArgument("session", session, SESSION);
  checkArgument("options", options, BRANCH);
  const { claudeLines } = await import("../claude/write.js");
  const { effectiveEntries } = await import("./effective-entries.js");
  const { value, entries, seen } = await masking(session, options);
  const leafId = options.branch ?? (await readLeaf(session));
  const effective = effectiveEntries(() => entries(session.walk({ leafId })));
  const exported = await continuation(value(await session.record()), effective, "claude", options.continues);
  yield* seen(endLines(claudeLines({ ...exported, isNew: options.continues !== undefined })));
}

/**
 * Exports a branch as a rollout of Codex, line by line: items for the model, with context edits applied and summaries in the
 * place of the summarized entries, and events for the interface. Codex requires that the id of a session is a UUID: the export replaces
 * another id by a new one. docs/formats/codex.md lists the losses. Cost: reads the branch three times.
 *
 * @example
 * for await (const line of exportCodex(session)) process.stdout.write(line);
 */
export async function* exportCodex(session: Session, options: BranchExportOptions = {}): AsyncGenerator<string, void, void> {
  checkArgument("session", session, SESSION);
  checkArgument("options", options, BRANCH);
  const { codexLines } = await import("../codex/write.js");
  const { effectiveEntries } = await import("./effective-entries.js");
  const { value, entries, seen } = await masking(session, options);
  const leafId = options.branch ?? (await readLeaf(session));
  const path = () => entries(session.walk({ leafId }));
  const exported = await continuation(value(await session.record()), effectiveEntries(path), "codex", options.continues);
  yield* seen(endLines(codexLines({ ...exported, path: path() })));
}

/**
 * Exports a branch as a session file of opencode, which `opencode import` takes, in pieces, with context edits applied. The id of a session
 * of another program gets the prefix that opencode asks for. docs/formats/opencode.md lists the losses. Cost: reads the branch three times.
 *
 * @example
 * for await (const piece of exportOpencode(session)) process.stdout.write(piece);
 */
export async function* exportOpencode(session: Session, options: BranchExportOptions = {}): AsyncGenerator<string, void, void> {
  checkArgument("session", session, SESSION);
  checkArgument("options", options, BRANCH);
  const { opencodeLines } = await import("../opencode/write.js");
  const { effectiveEntries } = await import("./effective-entries.js");
  const { value, entries, seen } = await masking(session, options);
  const leafId = options.branch ?? (await readLeaf(session));
  const path = () => entries(session.walk({ leafId }));
  const exported = await continuation(value(await session.record()), effectiveEntries(path), "opencode", options.continues);
  yield* seen(endLines(opencodeLines({ ...exported, path: path(), nowMs: Date.now() })));
}

/** Returns the session and the entries for a program: those of this session, or those of the new session that continues it. */
async function continuation(
  header: SessionRecord,
  entries: AsyncIterable<Entry>,
  target: ToolAgent,
  continues: Continuation | undefined,
): Promise<{ readonly session: SessionRecord & { parentSessionId?: string | null }; readonly entries: AsyncIterable<Entry> }> {
  if (continues === undefined) return { session: header, entries };
  const { sessionId: id, cwd } = continues;
  const session = { ...header, id, cwd, parentSessionId: header.id };
  // A program has all tools of its own sessions, also those of extensions and MCP servers.
  if (header.source?.format === target) return { session, entries };
  const { callsForAgent } = await import("./calls-for-agent.js");
  return { session, entries: callsForAgent(entries, target, header.cwd ?? cwd) };
}

/** The branch to export, and the parts of it. */
export interface MarkdownExportOptions extends MarkdownOptions, SecretOptions {
  /** The end of the branch; default: the leaf. */
  readonly branch?: EntryId | undefined;
  /** The sessions that calls of this one started; each is named below its call, with the command that exports it. */
  readonly subagents?: readonly Session[] | undefined;
  /** True to include the sessions of `subagents`, folded below their calls. Each is held as text. Default: false. */
  readonly includeSubagents?: boolean | undefined;
}

/** Exports a branch as a Markdown document for people, in pieces. Secrets are masked unless `secrets` is `keep`. */
export async function* exportMarkdown(session: Session, options: MarkdownExportOptions = {}): AsyncGenerator<string, void, void> {
  checkArgument("session", session, SESSION);
  checkArgument("options", options, MARKDOWN);
  const { branch, subagents = [], ...shown } = options;
  const masked = await masking(session, options, subagents);
  const leafId = branch ?? (await readLeaf(session));
  const [header, labels, { model }] = await Promise.all([session.record(), session.labels.list(), session.settings(leafId)]);
  const isFlat = branch === undefined && (await hasNoParents(session));
  const read = () => (isFlat ? session.entries() : session.walk({ leafId }));
  const { collectTurns } = await import("../markdown/contents.js");
  const { markdownOf } = await import("../markdown/markdown.js");
  const names = new Map(masked.value(labels).map(({ entryId, label }) => [entryId, label]));
  const isRange = options.from !== undefined || options.to !== undefined;
  const document = {
    session: masked.value(header),
    model: masked.value(model?.modelId ?? null),
    entries: masked.entries(read()),
    labels: names,
    contents: isRange ? [] : await collectTurns(read(), names, header.cwd, masked.entry),
    subagents: await readSubagents(subagents, options, masked),
    maskedSecrets: masked.counts,
  };
  yield* masked.seen(markdownOf(document, shown));
}

/** True if the session has several entries and none has a parent, as in files of programs that record no tree. */
async function hasNoParents(session: Session): Promise<boolean> {
  const { entryCount } = await session.record();
  return entryCount > 1 && (await session.tree.children(null)).length === entryCount;
}

async function readSubagents(
  sessions: readonly Session[],
  options: MarkdownExportOptions,
  masked: Masking,
): Promise<ReadonlyMap<string, Subagent>> {
  const { subagentSectionsOf } = await import("../markdown/markdown.js");
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

/** The functions with which an export masks values, entries, and its pieces. */
interface Masking {
  readonly value: <T>(given: T) => T;
  readonly entry: (given: Entry) => Entry;
  readonly entries: (given: AsyncIterable<Entry>) => AsyncIterable<Entry>;
  readonly seen: (pieces: AsyncIterable<string>) => AsyncGenerator<string, void, void>;
  /** Counts the masked secrets in the pieces so far. */
  readonly counts: () => readonly SecretCount[];
}

async function masking(session: Session, { secrets, onMasked }: SecretOptions, others: readonly Session[] = []): Promise<Masking> {
  if (secrets === "keep") return NO_MASKING;
  const masker = await learnSecrets(session);
  for (const other of others) for await (const entry of other.entries()) masker.learn(entry);
  return {
    value: (given) => masker.maskValue(given),
    entry: (given) => masker.maskEntry(given),
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
  entry: (given) => given,
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
