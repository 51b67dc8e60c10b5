import { platform } from "node:os";
import { resolve } from "node:path";
import type { NavigationResult } from "@bough/compaction";
import { exportMarkdown } from "@bough/formats";
import { describeSecrets, type SecretCount } from "@bough/formats/secrets";
import { BoughError, type Entry, type EntryId, InvalidQueryError, type SessionRecord } from "@bough/session-core";
import { ENTRY_TYPES, type PriceList, previewOf, type ViewPart, viewEntry } from "@bough/session-core/view";
import { entryLines } from "../format/entry-lines.js";
import { errorLine, failureNotice } from "../format/error-text.js";
import { expandHome } from "../format/path.js";
import { branchLines, loadBranchOverview } from "../preview/branches.js";
import { type ComparedMark, comparisonLines, loadComparison } from "../preview/comparison.js";
import { type MarkedPreview, markedPreview } from "../preview/entry.js";
import { afterResults } from "../session/after-results.js";
import { branchPrompt } from "../session/branch-prompt.js";
import { describeCompaction } from "../session/compaction-text.js";
import { sessionTitle } from "../session/names.js";
import { hitPages } from "../session/paging.js";
import { readPrices } from "../session/prices.js";
import { childrenByEntry } from "../session/subagents.js";
import { NewestOnly } from "../session/typed-search.js";
import { unfinishedQuery } from "../session/typed-text.js";
import { PRIVATE, writeNewFile } from "../session/write-file.js";
import { copyText } from "../terminal/clipboard.js";
import { glyphsFor } from "../terminal/glyphs.js";
import { fitLine, type Line, styled, textOfLine } from "../terminal/line.js";
import type { Performer, ScreenHost } from "../tui/screen.js";
import type { NavigatorDispatch, NavigatorEffect, NavigatorEvent, NavigatorResult, NavigatorWorld, Subagent } from "./model.js";
import { SessionWatcher } from "./session-watcher.js";

type EffectOf<Kind extends NavigatorEffect["kind"]> = Extract<NavigatorEffect, { kind: Kind }>;

const SECOND_MS = 1000;

/** Carries out the effects of the navigator. */
export class NavigatorPerformer implements Performer<NavigatorEffect> {
  readonly #world: NavigatorWorld;
  readonly #host: ScreenHost<NavigatorEvent>;
  readonly #watcher: SessionWatcher;
  readonly #search: NewestOnly<Query>;
  // A held key asks for a preview of each row that it passes. Only the newest is read: at a branch point of a long session one takes 0.3 s.
  readonly #previews = new NewestOnly<EffectOf<"preview">>((effect) => this.#showPreview(effect));
  /** Cancels the move or the compaction that runs. The dialog lets one start at a time. */
  #running: AbortController | undefined;
  #prices: Promise<PriceList> | undefined;

  constructor(world: NavigatorWorld, host: ScreenHost<NavigatorEvent>) {
    this.#world = world;
    this.#host = host;
    this.#watcher = new SessionWatcher(world, host.dispatch);
    this.#search = incrementalSearch(world, host.dispatch);
  }

  /** Starts an effect. Failures are dispatched as notices, also unexpected ones: the screen stays open. */
  perform(effect: NavigatorEffect): void {
    this.#run(effect).catch((error: unknown) => {
      // "workEnded" closes the dialog of the work; other failures must not close a dialog that the user has opened.
      const kind = effect.kind === "move" || effect.kind === "compact" ? "workEnded" : "notice";
      this.#host.dispatch({ kind, text: failureNotice(error), isError: true });
    });
  }

  /** Stops polling and search, and cancels work. */
  end(): void {
    this.#watcher.end();
    this.#search.end();
    this.#previews.end();
    this.#running?.abort();
  }

  async #run(effect: NavigatorEffect): Promise<void> {
    const { dispatch } = this.#host;
    switch (effect.kind) {
      case "load":
        await this.#watcher.load(effect.entries, effect.rows);
        return dispatch({ kind: "subagents", subagents: await this.#subagents() });
      case "rows":
        return dispatch({ kind: "rows", rows: await this.#world.session.tree.rowsAt(effect.seqs) });
      case "preview":
        return this.#previews.start(effect);
      case "search":
        return this.#search.start(effect);
      case "label":
        await this.#label(effect.entryId, effect.label);
        return this.#watcher.poll();
      case "move":
        return this.#runCancellable((signal) => this.#move(effect, signal));
      case "compact":
        await this.#runCancellable((signal) => this.#compact(effect.entryId, signal));
        return this.#watcher.poll();
      case "cancel":
        return this.#running?.abort();
      case "undo":
        this.#showNotice(effect.redo ? await this.#redo() : await this.#undo());
        return this.#watcher.poll();
      case "fork":
        return this.#fork(effect);
      case "export":
        return this.#showNotice(await this.#export(effect.entryId, effect.path));
      case "copy":
        return this.#copy(textToCopy(await this.#world.session.entry(effect.entryId)));
      case "copyBranch":
        return this.#copyBranch(effect.entryId);
      case "compare":
        return dispatch({ kind: "compared", lines: await this.#compare(effect.marks, effect.width) });
      case "remember":
        return this.#world.rememberChoice(effect.choice);
    }
  }

  #showNotice(text: string): void {
    this.#host.dispatch({ kind: "notice", text, isError: false });
  }

  async #showPreview(effect: EffectOf<"preview">): Promise<void> {
    const { entryId, width, words } = effect;
    try {
      this.#host.dispatch({ kind: "previewed", entryId, width, words, ...(await this.#preview(effect)) });
    } catch (error) {
      this.#host.dispatch({ kind: "notice", text: failureNotice(error), isError: true });
    }
  }

  async #preview({ entryId, width, isBranchPoint, calls = [], label, words }: EffectOf<"preview">): Promise<MarkedPreview> {
    const { session, io } = this.#world;
    const glyphs = glyphsFor(io.env);
    this.#prices ??= readPrices(io);
    const subject = { entry: await session.entry(entryId), sessionId: session.id, label, prices: await this.#prices };
    const branches = isBranchPoint ? [...branchLines(await loadBranchOverview(session, entryId), width, glyphs), []] : [];
    return markedPreview(subject, width, glyphs, words, calls.length === 0 ? branches : await this.#listCalls(calls, width));
  }

  /** The replies of a group, a line each, before the last one in full. */
  async #listCalls(calls: readonly EntryId[], width: number): Promise<readonly Line[]> {
    const { ellipsis } = glyphsFor(this.#world.io.env);
    const replies = await this.#world.session.entriesById(calls);
    const lines = [...replies.values()].map((reply): Line => fitLine([previewOf(reply)], width, ellipsis));
    return [[styled("heading", `${calls.length} replies; the last one follows in full`)], ...lines, []];
  }

  /** The subagents of each entry, in the order of the calls that started them. */
  async #subagents(): Promise<ReadonlyMap<EntryId, readonly Subagent[]>> {
    const byCall = await childrenByEntry(this.#world.store, this.#world.session.id);
    const entries = await this.#world.session.entriesById([...byCall.keys()]);
    for (const [id, records] of byCall) {
      const entry = entries.get(id);
      const calls = entry === undefined ? [] : callIdsOf(entry);
      const callOf = ({ parent }: SessionRecord) => calls.indexOf(parent?.toolCallId ?? "");
      records.sort((a, b) => callOf(a) - callOf(b) || a.createdAtMs - b.createdAtMs);
    }
    return byCall;
  }

  async #label(entryId: EntryId, label: string): Promise<void> {
    if (label === "") await this.#world.session.labels.remove(entryId);
    else await this.#world.session.labels.set(entryId, label);
  }

  async #undo(): Promise<string> {
    return (await this.#world.session.undoMove()) ? "The last move is undone; r redoes it." : "There is no move to undo.";
  }

  async #redo(): Promise<string> {
    return (await this.#world.session.redoMove()) ? "The move is redone." : "There is no move to redo.";
  }

  async #fork({ entryId, opens }: EffectOf<"fork">): Promise<void> {
    const fork = await this.#world.store.forkSession(this.#world.session.id, { at: entryId });
    if (opens) return this.#host.dispatch({ kind: "finished", result: { kind: "forked", sessionId: fork.id } });
    this.#showNotice(`Forked: ${sessionTitle(await fork.record())}. This is still the original.`);
  }

  async #export(entryId: EntryId, given: string): Promise<string> {
    const { session, io } = this.#world;
    const path = resolve(io.cwd, expandHome(given, io.home));
    const masked: SecretCount[] = [];
    await writeNewFile(
      io,
      path,
      exportMarkdown(session, { branch: entryId, onMasked: (counts) => masked.push(...counts) }),
      false,
      PRIVATE,
    );
    return `Written to ${path}${masked.length === 0 ? "" : `; ${describeSecrets(masked, "masked")}`}`;
  }

  async #copyBranch(entryId: EntryId): Promise<void> {
    const masked: SecretCount[] = [];
    let text = "";
    for await (const piece of branchPrompt(this.#world.session, entryId, (counts) => masked.push(...counts))) text += piece;
    await this.#copy(text, masked.length === 0 ? "" : ` ${describeSecrets(masked, "masked")}.`);
  }

  async #copy(text: string, more = ""): Promise<void> {
    if (text === "") return this.#showNotice("This entry has no text.");
    // Terminals interpret control characters in pasted text, so only line breaks and tabs are kept.
    const plain = text.replace(/\r\n?/g, "\n").replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
    const { isCopied, message } = await copyText(plain, { env: this.#world.io.env, platform: platform() }, this.#host.copy);
    this.#host.dispatch({ kind: "notice", text: message + more, isError: !isCopied });
  }

  /** Runs work that takes time, with a tick each second. The work dispatches its end, also after it was cancelled. */
  async #runCancellable(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const controller = new AbortController();
    this.#running = controller;
    const tick = () => this.#host.dispatch({ kind: "tick", nowMs: this.#world.io.now() });
    const timer = setInterval(tick, SECOND_MS);
    tick();
    try {
      await work(controller.signal);
    } finally {
      clearInterval(timer);
      this.#running = undefined;
    }
  }

  async #move({ entryId, summarize, focus }: EffectOf<"move">, signal: AbortSignal): Promise<void> {
    const { id } = await afterResults(this.#world.session, entryId);
    const result = await (await this.#world.compactor()).navigate(id, { summarize, instructions: focus ?? undefined, signal });
    const outcome = moveOutcome(result);
    if (typeof outcome === "string") this.#host.dispatch({ kind: "workEnded", text: outcome, isError: result.kind === "failed" });
    else this.#host.dispatch({ kind: "finished", result: outcome });
  }

  async #compact(entryId: EntryId, signal: AbortSignal): Promise<void> {
    const result = await (await this.#world.compactor()).compact({ keepFrom: entryId, signal });
    const text = describeCompaction(result, "bough compact --undo");
    this.#host.dispatch({ kind: "workEnded", text, isError: result.kind === "failed" });
  }

  async #compare([a, b]: readonly [ComparedMark, ComparedMark], width: number): Promise<readonly Line[]> {
    return comparisonLines(await loadComparison(this.#world.session, a, b), width, glyphsFor(this.#world.io.env));
  }
}

/** The text of a message or summary; for other entries, and messages without text, the lines of `bough show`. */
function textToCopy(entry: Entry): string {
  return viewEntry(entry, { asStored: true }).parts.flatMap(textsOf).join("\n") || entryLines(entry).map(textOfLine).join("\n");
}

function textsOf(part: ViewPart): readonly string[] {
  switch (part.type) {
    case "markdown":
    case "text":
      return [part.text];
    case "code":
      return [`$ ${part.text}`];
    case "summary":
      return [part.stored];
    case "result":
      return part.parts.flatMap(textsOf);
    case "thinking":
    case "json":
    case "image":
    case "file":
    case "foreign":
    case "note":
    case "fact":
    case "call":
      return [];
  }
}

function callIdsOf(entry: Entry): readonly string[] {
  if (entry.type !== "message" || entry.message.role !== "assistant") return [];
  return entry.message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
}

/** Hits of the first page and of the following ones: the first page has to arrive fast. */
const FIRST_PAGE = 100;
const NEXT_PAGE = 500;

const MAX_HITS = 5000;

/** Entries only, no title. A screen is read by the person whose entries these are, so it has the private ones too. */
const REQUEST = { relax: true, types: ENTRY_TYPES, includePrivate: true } as const;

interface Query {
  readonly query: string;
  readonly queryId: number;
}

/** Searches the session while the user types; dispatches hits in pages. A newer query cancels the running one after its current page. */
function incrementalSearch({ session }: NavigatorWorld, dispatch: NavigatorDispatch): NewestOnly<Query> {
  return new NewestOnly(async ({ query, queryId }, isWanted) => {
    try {
      const words = unfinishedQuery(query);
      let found = 0;
      for await (const page of hitPages(session, { ...REQUEST, query: words, limit: FIRST_PAGE }, NEXT_PAGE)) {
        const hits = page.hits.flatMap(({ entryId, snippet, matches }) => (entryId === null ? [] : [{ entryId, snippet, matches }]));
        const { total, matched } = page;
        dispatch({ kind: "hits", queryId, hits, total, isMore: found > 0, words: { query: words, matched } });
        found += page.hits.length;
        // Pending keys are handled between two pages.
        await new Promise(setImmediate);
        if (found >= MAX_HITS || page.hits.length === 0 || !isWanted()) return;
      }
    } catch (error) {
      if (!(error instanceof BoughError)) throw error;
      const problem = error instanceof InvalidQueryError ? firstSentence(errorLine(error)) : errorLine(error);
      dispatch({ kind: "badQuery", queryId, problem });
    }
  });
}

function firstSentence(text: string): string {
  return /^.*?[.!](?=\s|$)/.exec(text)?.[0] ?? text;
}

/** The result that closes the navigator, or the notice to show instead. */
function moveOutcome(result: NavigationResult): NavigatorResult | string {
  switch (result.kind) {
    case "moved":
      return { kind: "moved", leafId: result.leafId, text: result.text, summaryEntryId: result.summaryEntryId };
    case "already-there":
      return { kind: "moved", leafId: result.leafId, text: result.text, summaryEntryId: null };
    case "cancelled":
      return "Cancelled. The session did not move.";
    case "failed":
      return `No summary was written, and the session did not move: ${errorLine(result.error)}`;
  }
}
