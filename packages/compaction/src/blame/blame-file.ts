import type { SessionMasks } from "@bough/formats/secrets";
import { type EntryId, pagesOf, type Session, type SessionId, type Store } from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import { isTyped, oneLine, previewOf } from "@bough/session-core/view";
import { type FileEvent, FileHistory, type GitRename } from "./file-events.js";
import { traceLines } from "./trace-lines.js";

/** The file whose lines are traced. */
export interface BlameRequest {
  /** The absolute paths by which calls may name the file: its path, and the one without symbolic links. POSIX form, the first is shown. */
  readonly paths: readonly string[];
  /** The text of the file, whose lines are traced. */
  readonly text: string;
  /** The same file in other working trees of the repository: a call there can only perhaps have written a line here. */
  readonly elsewhere?: readonly string[] | undefined;
  /** Earlier paths of the file, from git, and until when it had them. */
  readonly renames?: readonly GitRename[] | undefined;
  /** Only calls before this time, in milliseconds since 1970: the time of a commit. */
  readonly untilMs?: number | undefined;
  /** The home folder, for calls that write `~/a.ts`; default: none. */
  readonly home?: string | undefined;
  /** Only these lines, from 1; default: all. */
  readonly lines?: { readonly from: number; readonly to: number } | undefined;
}

const BLAME = rules.options(
  {
    paths: rules.list(rules.TEXT),
    text: rules.TEXT,
    elsewhere: rules.optional(rules.list(rules.TEXT)),
    renames: rules.optional(rules.list(rules.record({ from: rules.TEXT, untilMs: rules.NUMBER }))),
    untilMs: rules.optional(rules.NUMBER),
    home: rules.optional(rules.TEXT),
    lines: rules.optional(rules.record({ from: rules.NUMBER, to: rules.NUMBER })),
  } satisfies rules.RulesOf<BlameRequest>,
  'an object such as { paths: ["/home/me/a.ts"], text: "…" }',
);

/** An entry whose call wrote lines of the file, or may have. */
export interface BlamedEntry {
  readonly sessionId: SessionId;
  readonly entryId: EntryId;
  /** The format that the session was imported from (`claude`, `pi`); `bough`: a session that was made in the store. */
  readonly agent: string;
  readonly title: string | null;
  readonly cwd: string | null;
  /** The model that made the call; null: not recorded. */
  readonly model: string | null;
  readonly createdAtMs: number;
  /** The nearest message above it that a person typed, at most 400 characters on one line; null: there is none. */
  readonly request: { readonly entryId: EntryId; readonly text: string } | null;
}

/** One line of the file. */
export interface BlamedLine {
  /** Its number, from 1. */
  readonly line: number;
  /**
   * `written`: the call of the entry wrote exactly this line, white space apart, and nothing that a session shows has changed it since.
   * `perhaps`: `reason` says what is not known. `none`: no session of the store wrote it, as far as the store shows.
   */
  readonly verdict: "written" | "perhaps" | "none";
  /** An index of `BlamedFile.entries`; null: `verdict` is `none`. */
  readonly entry: number | null;
  /** null: `verdict` is `written`. */
  readonly reason: string | null;
}

/** The lines of a file, and who wrote them. */
export interface BlamedFile {
  readonly lines: readonly BlamedLine[];
  /** Oldest first. */
  readonly entries: readonly BlamedEntry[];
  /** Limits that were reached, one line each. */
  readonly notes: readonly string[];
}

/**
 * Finds for each line of a file the entry of any session of the store whose call wrote it. Replays the writes, edits, patches and moves of
 * all sessions on the file in the order of their times, compares the result with the text, and says `perhaps` wherever two answers fit: for an
 * identical line, a whole write over an unknown text, a change that cannot be replayed. Copies of an entry count once, at the original.
 * Reads nothing but the store.
 *
 * Cost: a pass over the paths of all calls, a search for the name of the file, and the entries that touch it; linear in the text for each edit.
 *
 * @throws {InvalidArgumentError}
 * @example
 * const { lines, entries } = await blameFile(store, { paths: ["/home/me/p/src/a.ts"], text: await readFile("src/a.ts", "utf8") });
 * const author = entries[lines[11]?.entry ?? -1]; // of line 12; undefined: none is known
 */
export async function blameFile(
  store: Store,
  request: BlameRequest,
  options: { readonly masks?: SessionMasks | undefined } = {},
): Promise<BlamedFile> {
  rules.checkArgument("store", store, rules.withMethods("a store", "fileTouches"));
  rules.checkArgument("request", request, BLAME);
  const { paths, text, elsewhere = [], renames = [], untilMs, home = "", lines: range } = request;
  const history = new FileHistory(store, home);
  const events = await history.read(paths, renames, untilMs);
  const others = elsewhere.length === 0 ? [] : await history.read(elsewhere, [], untilMs);
  const traced = traceLines(events, others, text);
  const wanted = traced
    .map((line, at) => ({ ...line, line: at + 1 }))
    .slice(0, text.endsWith("\n") ? -1 : undefined)
    .filter(({ line }) => range === undefined || (line >= range.from && line <= range.to));
  const all = [...events, ...others];
  const used = [...new Set(wanted.flatMap(({ event }) => event ?? []))].sort((one, other) => one - other);
  const entries: BlamedEntry[] = [];
  for (const at of used) {
    const event = all[at];
    if (event !== undefined) entries.push(await describe(history, event, options.masks));
  }
  return {
    lines: wanted.map(({ line, verdict, event, reason }) => ({
      line,
      verdict,
      entry: event === null ? null : used.indexOf(event),
      reason,
    })),
    entries,
    notes: history.notes,
  };
}

const REQUEST_CHARS = 400;

async function describe(
  history: FileHistory,
  { sessionId, entryId, createdAtMs }: FileEvent,
  masks: SessionMasks | undefined,
): Promise<BlamedEntry> {
  const session = await history.session(sessionId);
  const record = await session.record();
  const entry = await session.entry(entryId);
  const masker = await masks?.of(session);
  const mask = (text: string): string => masker?.maskLine(text) ?? text;
  const message = entry.type === "message" ? entry.message : undefined;
  const request = await findRequest(session, entryId);
  return {
    sessionId,
    entryId,
    agent: record.source?.format ?? "bough",
    title: record.title === null ? null : mask(oneLine(record.title, REQUEST_CHARS)),
    cwd: record.cwd,
    model: message?.role === "assistant" ? (message.model ?? null) : null,
    createdAtMs,
    request: request === null ? null : { ...request, text: mask(request.text) },
  };
}

/** The nearest entry above one that a person typed. */
async function findRequest(session: Session, leafId: EntryId): Promise<BlamedEntry["request"]> {
  const scan = { leafId, order: "up", types: ["message"] } as const;
  for await (const { items } of pagesOf((cursor) => session.scan({ ...scan, limit: cursor === undefined ? 6 : 50, cursor })))
    for (const entry of items) {
      const preview = previewOf(entry);
      const message = entry.type === "message" ? entry.message : undefined;
      const customType = message?.role === "custom" ? message.customType : null;
      if (isTyped({ role: message?.role ?? null, customType, preview }))
        return { entryId: entry.id, text: oneLine(preview, REQUEST_CHARS) };
    }
  return null;
}
