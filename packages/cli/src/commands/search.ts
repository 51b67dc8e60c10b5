import { resolve } from "node:path";
import type { SearchHit, SearchPage, SearchRequest, Store } from "@bough/session-core";
import { ENTRY_TYPES, MESSAGE_ROLES } from "@bough/session-core/internals";
import { UsageError } from "../errors.js";
import { count, counted } from "../format/numbers.js";
import { age, parseTime } from "../format/time.js";
import { wrapLine } from "../format/wrap.js";
import { sessionTitle } from "../session/choose-session.js";
import { withStore } from "../session/open-store.js";
import type { Io } from "../terminal/io.js";
import { fitLine, type Line, type Span, styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { loadExactWidths } from "../terminal/width.js";
import type { Command, CommonOptions } from "./command.js";
import { PRINTED_CHARS, printAnswer } from "./recall-output.js";

interface SearchOptions extends CommonOptions {
  readonly session?: string;
  readonly role?: readonly string[];
  readonly type?: readonly string[];
  readonly path?: string;
  readonly directory?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
  readonly all?: boolean;
  readonly private?: boolean;
  readonly exact?: boolean;
  readonly passages?: boolean;
  readonly tool?: string;
  readonly around?: number;
  readonly summaries?: boolean;
  readonly interactive?: boolean;
}

/** `bough search`: prints entries and titles that contain all the words, or most of them, best match first. */
export const runSearch: Command<SearchOptions> = async (invocation) => {
  const { io, out, args, options } = invocation;
  const request = buildRequest(io, args.join(" "), options);
  if (options.interactive === true || (args.length === 0 && isBare(options) && io.terminal !== undefined))
    return (await import("./search-interactive.js")).searchInteractively(invocation, request);
  await withStore(io, options.store, "read", async (store) => {
    await loadExactWidths();
    const sessionId = options.session === undefined ? undefined : (await store.resolveSession(options.session)).id;
    const usesRecall = options.passages === true || options.summaries === true || (options.tool ?? options.around) !== undefined;
    if (usesRecall) return searchByRecall(out, store, { ...request, sessionId }, options);
    const page = await readPages(store, { ...request, sessionId }, options.all === true);
    if (options.json === true) return out.json(page);
    await printHits(out, store, page, io.now());
  });
};

/** Prints hits as a model gets them: the lines where the words stand close together, with their numbers. */
async function searchByRecall(out: Printer, store: Store, request: SearchRequest, options: SearchOptions): Promise<void> {
  const { recallSearch } = await import("@bough/compaction");
  const { query, sessionId, path, types, cwd, sinceMs, untilMs, includePrivate } = request;
  const { tool, around = 0, summaries = false, role } = options;
  const target = sessionId === undefined ? store : await store.openSession(sessionId);
  const limit = Math.min(options.all === true ? MOST_PASSAGES : options.limit, MOST_PASSAGES);
  const roles = checkChoices("--role", role, MESSAGE_ROLES)?.slice();
  const filter = { types, cwd, sinceMs, untilMs };
  const answer = await recallSearch(
    target,
    { query, path, tool, around, summaries, limit, roles },
    { filter, includePrivate, maxChars: PRINTED_CHARS, howToContinue: `--limit prints up to ${MOST_PASSAGES}` },
  );
  await printAnswer(out, answer, options.json === true);
}

/** The most hits with passages. */
const MOST_PASSAGES = 50;

function buildRequest(io: Io, query: string, options: SearchOptions): SearchRequest {
  return {
    query,
    roles: checkChoices("--role", options.role, MESSAGE_ROLES),
    types: checkChoices("--type", options.type, ENTRY_TYPES),
    path: options.path,
    cwd: options.directory === undefined ? undefined : resolve(io.cwd, options.directory),
    sinceMs: parseTimeOption("--since", options.since, io.now()),
    untilMs: parseTimeOption("--until", options.until, io.now()),
    relax: options.exact !== true,
    includePrivate: options.private === true,
    limit: options.limit,
  };
}

/** Whether no option asks for a list or a form of it. */
function isBare(options: SearchOptions): boolean {
  const { store: _store, limit: _limit, pager: _pager, ...others } = options;
  return Object.values(others).every((value) => value === undefined);
}

function checkChoices<T extends string>(
  option: string,
  given: readonly string[] | undefined,
  allowed: readonly T[],
): readonly T[] | undefined {
  return given?.map((one) => {
    const found = allowed.find((name) => name === one);
    if (found === undefined) throw new UsageError(`${option} ${one} is unknown. Choose from ${allowed.join(", ")}.`);
    return found;
  });
}

function parseTimeOption(option: string, given: string | undefined, now: number): number | undefined {
  if (given === undefined) return undefined;
  const at = parseTime(given, now);
  if (at === undefined) throw new UsageError(`${option} ${given} is not a time. Write 2025-11-21, 2025-11-21T14:05, or 3d, 12h, 2w ago.`);
  return at;
}

/** Hits of one page where all are printed: the rank of each hit is computed again for each page. */
const LARGE_PAGE = 1000;

async function readPages(store: Store, asked: SearchRequest, all: boolean): Promise<SearchPage> {
  const request = all ? { ...asked, limit: LARGE_PAGE } : asked;
  const first = await store.search(request);
  const hits: SearchHit[] = [...first.hits];
  let { next } = first;
  while (all && next !== null) {
    const page = await store.search({ ...request, cursor: next });
    for (const hit of page.hits) hits.push(hit);
    next = page.next;
  }
  return { ...first, hits, next };
}

async function printHits(out: Printer, store: Store, { hits, total, next, matched }: SearchPage, now: number): Promise<void> {
  if (total === 0) return out.line('No matches. The words must occur in one entry; word* is a prefix, "some words" a phrase.');
  if (matched.kind === "some") out.line(styled("dim", `No entry has all ${matched.of} words; these have at least ${matched.words}.`));
  if (matched.kind === "spelling") out.line(styled("dim", `No entry has "${matched.typed}"; these have "${matched.found.join('", "')}".`));
  let heading: string | undefined;
  for (const hit of hits) {
    if (hit.sessionId !== heading) await printHeading(out, store, hit.sessionId);
    heading = hit.sessionId;
    printHit(out, hit, now);
    await out.pump();
  }
  const shown = next === null ? "" : `, the best ${count(hits.length)} printed; --all prints all`;
  out.line(styled("dim", `${counted(total, "match", "matches")}${shown}`));
}

async function printHeading(out: Printer, store: Store, sessionId: string): Promise<void> {
  const record = await store.findSession(sessionId);
  const id = styled("dim", `  ${sessionId}`);
  const title = record === undefined ? "(deleted)" : sessionTitle(record);
  out.line(...fitLine([styled("bold", title)], Math.max(out.width - sessionId.length - 2, 10), out.glyphs.ellipsis), id);
}

function printHit(out: Printer, hit: SearchHit, now: number): void {
  const kind = hit.role ?? hit.type;
  const mark = hit.isPrivate ? "  private" : "";
  out.line("  ", styled("label", hit.entryId ?? "title"), styled("dim", `  ${kind}  ${age(hit.createdAtMs, now)}${mark}`));
  for (const line of wrapLine(renderSnippet(hit), out.width - 4)) out.line("    ", ...line);
}

function renderSnippet({ snippet, matches }: SearchHit): Line {
  const pieces: (string | Span)[] = [];
  let done = 0;
  for (const [start, end] of matches) {
    pieces.push(snippet.slice(done, start), styled("match", snippet.slice(start, end)));
    done = end;
  }
  pieces.push(snippet.slice(done));
  return pieces.filter((piece) => piece !== "");
}
