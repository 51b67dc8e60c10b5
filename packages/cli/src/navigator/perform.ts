import { platform } from "node:os";
import { resolve } from "node:path";
import { exportMarkdown } from "@bough/formats";
import { describeSecrets, type SecretCount } from "@bough/formats/secrets";
import type { Entry, EntryId, SessionRecord } from "@bough/session-core";
import { type PriceList, previewOf, type ViewPart, viewEntry } from "@bough/session-core/view";
import { entryLines } from "../format/entry-lines.js";
import { failureNotice } from "../format/error-text.js";
import { branchLines, loadBranchOverview } from "../preview/branches.js";
import { type ComparedMark, comparisonLines, loadComparison } from "../preview/comparison.js";
import { type MarkedPreview, markedPreview } from "../preview/entry.js";
import { listChildren } from "../session/paging.js";
import { readPrices } from "../session/prices.js";
import { sessionTitle } from "../session/titles.js";
import { writeNewFile } from "../session/write-file.js";
import { copyText } from "../terminal/clipboard.js";
import { glyphsFor } from "../terminal/glyphs.js";
import { fitLine, type Line, styled, textOfLine } from "../terminal/line.js";
import type { ScreenHost } from "../tui/screen.js";
import { CancellableWork } from "./cancellable-work.js";
import { IncrementalSearch } from "./incremental-search.js";
import type { NavigatorDispatch, NavigatorEffect, NavigatorEvent, NavigatorWorld, Subagent } from "./model.js";
import { SessionWatcher } from "./session-watcher.js";

type EffectOf<Kind extends NavigatorEffect["kind"]> = Extract<NavigatorEffect, { kind: Kind }>;

/** The long-running parts of a navigator, which dispatch events by themselves. */
interface Tasks {
  readonly watcher: SessionWatcher;
  readonly search: IncrementalSearch;
  readonly work: CancellableWork;
}

/** Carries out the effects of the navigator. */
export class NavigatorPerformer {
  readonly #world: NavigatorWorld;
  #tasks: Tasks | undefined;
  #prices: Promise<PriceList> | undefined;

  constructor(world: NavigatorWorld) {
    this.#world = world;
  }

  /** Starts an effect. Failures are dispatched as notices, also unexpected ones: the screen stays open. */
  perform(effect: NavigatorEffect, host: ScreenHost<NavigatorEvent>): void {
    this.#run(effect, host).catch((error: unknown) => {
      // "workEnded" closes the dialog of the work; other failures must not close a dialog that the user has opened.
      const kind = effect.kind === "move" || effect.kind === "compact" ? "workEnded" : "notice";
      host.dispatch({ kind, text: failureNotice(error), isError: true });
    });
  }

  /** Stops polling and search, and cancels work. */
  end(): void {
    this.#tasks?.watcher.end();
    this.#tasks?.search.end();
    this.#tasks?.work.cancel();
  }

  #tasksWith(dispatch: NavigatorDispatch): Tasks {
    this.#tasks ??= {
      watcher: new SessionWatcher(this.#world, dispatch),
      search: new IncrementalSearch(this.#world, dispatch),
      work: new CancellableWork(this.#world, dispatch),
    };
    return this.#tasks;
  }

  async #run(effect: NavigatorEffect, host: ScreenHost<NavigatorEvent>): Promise<void> {
    const { dispatch } = host;
    const { watcher, search, work } = this.#tasksWith(dispatch);
    switch (effect.kind) {
      case "load":
        await watcher.load(effect.entries, effect.rows);
        return dispatch({ kind: "subagents", subagents: await this.#subagents() });
      case "rows":
        return dispatch({ kind: "rows", rows: await this.#world.session.tree.rowsAt(effect.seqs) });
      case "preview": {
        const { entryId, width, words } = effect;
        return dispatch({ kind: "previewed", entryId, width, words, ...(await this.#preview(effect)) });
      }
      case "search":
        return search.start(effect.query, effect.queryId);
      case "label":
        await this.#label(effect.entryId, effect.label);
        return watcher.poll();
      case "move":
        return work.move(effect.entryId, effect.summarize, effect.focus);
      case "compact":
        await work.compact(effect.entryId);
        return watcher.poll();
      case "cancel":
        return work.cancel();
      case "undo":
        showNotice(dispatch, effect.redo ? await this.#redo() : await this.#undo());
        return watcher.poll();
      case "fork":
        return this.#fork(effect, dispatch);
      case "export":
        return showNotice(dispatch, await this.#export(effect.entryId, effect.path));
      case "copy":
        return this.#copy(effect.entryId, host);
      case "compare":
        return dispatch({ kind: "compared", lines: await this.#compare(effect.marks, effect.width) });
      case "remember":
        return this.#world.rememberChoice(effect.choice);
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
    const found = new Map<EntryId, SessionRecord[]>();
    for (const record of await listChildren(this.#world.store, this.#world.session.id)) {
      const entryId = record.parent?.entryId ?? null;
      if (entryId !== null) found.set(entryId, [...(found.get(entryId) ?? []), record]);
    }
    const entries = await this.#world.session.entriesById([...found.keys()]);
    for (const [id, records] of found) {
      const entry = entries.get(id);
      const calls = entry === undefined ? [] : callIdsOf(entry);
      const callOf = ({ parent }: SessionRecord) => calls.indexOf(parent?.toolCallId ?? "");
      records.sort((a, b) => callOf(a) - callOf(b) || a.createdAtMs - b.createdAtMs);
    }
    return found;
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

  async #fork({ entryId, opens }: EffectOf<"fork">, dispatch: NavigatorDispatch): Promise<void> {
    const fork = await this.#world.store.forkSession(this.#world.session.id, { at: entryId });
    if (opens) return dispatch({ kind: "finished", result: { kind: "forked", sessionId: fork.id } });
    showNotice(dispatch, `Forked: ${sessionTitle(await fork.record())}. This is still the original.`);
  }

  async #export(entryId: EntryId, given: string): Promise<string> {
    const { session, io } = this.#world;
    const path = resolve(io.cwd, given);
    const masked: SecretCount[] = [];
    await writeNewFile(io, path, exportMarkdown(session, { branch: entryId, onMasked: (counts) => masked.push(...counts) }), false);
    return `Written to ${path}${masked.length === 0 ? "" : `; ${describeSecrets(masked, "masked")}`}`;
  }

  async #copy(entryId: EntryId, host: ScreenHost<NavigatorEvent>): Promise<void> {
    const text = textToCopy(await this.#world.session.entry(entryId));
    if (text === "") return showNotice(host.dispatch, "This entry has no text.");
    // Terminals interpret control characters in pasted text, so only line breaks and tabs are kept.
    const plain = text.replace(/\r\n?/g, "\n").replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
    const { isCopied, message } = await copyText(plain, { env: this.#world.io.env, platform: platform() }, host.copy);
    host.dispatch({ kind: "notice", text: message, isError: !isCopied });
  }

  async #compare([a, b]: readonly [ComparedMark, ComparedMark], width: number): Promise<readonly Line[]> {
    return comparisonLines(await loadComparison(this.#world.session, a, b), width, glyphsFor(this.#world.io.env));
  }
}

function showNotice(dispatch: NavigatorDispatch, text: string): void {
  dispatch({ kind: "notice", text, isError: false });
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
