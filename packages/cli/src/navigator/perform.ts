import { resolve } from "node:path";
import { BoughError, type Entry, type EntryId, exportMarkdown, textOf } from "@bough/session-core";
import { CommandError, errorLine } from "../errors.js";
import { entryLines } from "../format/entry-lines.js";
import { branchLines, loadBranchOverview } from "../preview/branches.js";
import { comparisonLines, loadComparison } from "../preview/comparison.js";
import { entryPreview } from "../preview/entry.js";
import { toFileName, writeNewFile } from "../session/write-file.js";
import { glyphsFor } from "../terminal/glyphs.js";
import { type Line, textOfLine } from "../terminal/line.js";
import type { ScreenHost } from "../tui/screen.js";
import { Finder } from "./finder.js";
import type { NavigatorEffect, NavigatorEvent, NavigatorWorld } from "./model.js";
import { TreeReader } from "./tree-reader.js";
import { Worker } from "./worker.js";

/** Carries out what the navigator asks for. */
export class Performer {
  #reader: TreeReader | undefined;
  #finder: Finder | undefined;
  #worker: Worker | undefined;

  constructor(private readonly world: NavigatorWorld) {}

  perform(effect: NavigatorEffect, host: ScreenHost<NavigatorEvent>): void {
    this.#do(effect, host).catch((error: unknown) => {
      // What the store or the file system refuses is said; the screen goes on. A defect of ours is said too: a screen
      // that ends in a stack trace has lost the person's place.
      const kind = effect.kind === "move" || effect.kind === "compact" ? "worked" : "notice";
      // Only work has a dialog to close; another one may be open, with something typed in it.
      host.dispatch({ kind, text: known(error) ? errorLine(error) : `Unexpected failure: ${errorLine(error)}`, isError: true });
    });
  }

  end(): void {
    this.#reader?.end();
    this.#finder?.end();
    this.#worker?.cancel();
  }

  async #do(effect: NavigatorEffect, host: ScreenHost<NavigatorEvent>): Promise<void> {
    const { dispatch } = host;
    this.#reader ??= new TreeReader(this.world, dispatch);
    this.#worker ??= new Worker(this.world, dispatch);
    const [reader, worker] = [this.#reader, this.#worker];
    switch (effect.kind) {
      case "load":
        return reader.load();
      case "preview":
        return dispatch({ ...effect, kind: "previewed", lines: await this.#preview(effect) });
      case "search":
        this.#finder ??= new Finder(this.world, dispatch);
        return this.#finder.ask(effect.query, effect.question);
      case "label":
        await this.#label(effect.entryId, effect.label);
        return reader.look();
      case "move":
        return worker.move(effect.entryId, effect.summarize, effect.focus);
      case "compact":
        await worker.compact(effect.entryId);
        return reader.look();
      case "cancel":
        return worker.cancel();
      case "undo":
        await this.#undo(effect.redo, dispatch);
        return reader.look();
      case "fork":
        return dispatch({ kind: "moved", result: { kind: "forked", sessionId: await this.#fork(effect.entryId) } });
      case "export":
        return this.#said(dispatch, `Written to ${await this.#export(effect.entryId)}`);
      case "copy":
        return this.#copy(effect.entryId, host);
      case "compare":
        return dispatch({ kind: "compared", lines: await this.#compare(effect.entryIds, effect.width) });
      case "remember":
        return this.world.rememberChoice(effect.choice);
    }
  }

  #said(dispatch: ScreenHost<NavigatorEvent>["dispatch"], text: string): void {
    dispatch({ kind: "notice", text, isError: false });
  }

  async #preview({ entryId, width, isBranchPoint, label }: Extract<NavigatorEffect, { kind: "preview" }>): Promise<readonly Line[]> {
    const { session } = this.world;
    const glyphs = glyphsFor(this.world.io.env);
    const lines = entryPreview({ entry: await session.entry(entryId), sessionId: session.id, label }, width, glyphs);
    if (!isBranchPoint) return lines;
    return [...branchLines(await loadBranchOverview(session, entryId), width, glyphs), [], ...lines];
  }

  async #label(entryId: EntryId, label: string): Promise<void> {
    if (label === "") await this.world.session.unlabel(entryId);
    else await this.world.session.label(entryId, label);
  }

  async #undo(redo: boolean, dispatch: ScreenHost<NavigatorEvent>["dispatch"]): Promise<void> {
    const { session } = this.world;
    const moved = redo ? await session.redoMove() : await session.undoMove();
    if (moved) this.#said(dispatch, redo ? "The move is made again." : "The last move is taken back; r makes it again.");
    else this.#said(dispatch, redo ? "Nothing was taken back since the last move." : "There is no move to take back.");
  }

  async #fork(entryId: EntryId): Promise<string> {
    return (await this.world.store.forkSession(this.world.session.id, { at: entryId })).id;
  }

  async #export(entryId: EntryId): Promise<string> {
    const { session, io } = this.world;
    const path = resolve(io.cwd, `bough-${toFileName(session.id)}-${toFileName(entryId)}.md`);
    await writeNewFile(io, path, exportMarkdown(session, { branch: entryId }), false);
    return path;
  }

  async #copy(entryId: EntryId, host: ScreenHost<NavigatorEvent>): Promise<void> {
    const text = textToCopy(await this.world.session.entry(entryId));
    // An empty text would take away what is on the clipboard.
    // What is pasted into a terminal is obeyed by it, so control characters go; line breaks and tabs stay.
    if (text !== "") host.copy(text.replace(/\r\n?/g, "\n").replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, ""));
    this.#said(host.dispatch, text === "" ? "This entry has no text." : "Copied.");
  }

  async #compare([a, b]: readonly [EntryId, EntryId], width: number): Promise<readonly Line[]> {
    return comparisonLines(await loadComparison(this.world.session, a, b), width, glyphsFor(this.world.io.env));
  }
}

function known(error: unknown): boolean {
  return error instanceof BoughError || error instanceof CommandError;
}

/** What somebody means who copies an entry: the text of a message or summary, the lines of anything else. */
export function textToCopy(entry: Entry): string {
  switch (entry.type) {
    case "message":
      return messageText(entry.message) || linesOf(entry);
    case "custom_message":
      return textOf(entry.content);
    case "compaction":
    case "branch_summary":
      return entry.summary;
    default:
      return linesOf(entry);
  }
}

function messageText(message: Extract<Entry, { type: "message" }>["message"]): string {
  return message.role === "bashExecution" ? `$ ${message.command}\n${message.output}` : textOf(message.content);
}

function linesOf(entry: Entry): string {
  return entryLines(entry).map(textOfLine).join("\n");
}
