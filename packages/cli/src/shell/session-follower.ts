import { type EntryId, SessionNotFoundError, type SessionRecord } from "@bough/session-core";
import { SerialQueue } from "@bough/session-core/engine";
import { failureNotice } from "../format/error-text.js";
import type { StoreWatcher } from "../session/store-watcher.js";
import { type Glyphs, glyphsFor } from "../terminal/glyphs.js";
import { type Line, styled } from "../terminal/line.js";
import { transcriptLines } from "./transcript.js";
import { type ShellHost, type ShellWorld, terminalWidth } from "./world.js";

/** The most entries of another process that are printed at once. */
const MAX_ENTRIES = 30;

/** The notice that the session does not exist any more. */
export const DELETED = "Another process deleted this session. /new starts another one.";

/**
 * Moves the handle of the shell's session to the leaf that another process set, and draws the new entries of the path. While the
 * shell itself writes, the handle is not refreshed; it is refreshed when the last of its writers has ended.
 */
export class SessionFollower {
  readonly #world: ShellWorld;
  readonly #changes: StoreWatcher;
  readonly #host: ShellHost;
  readonly #glyphs: Glyphs;
  readonly #onChange: () => Promise<void>;
  #known: string;
  #writers = 0;
  /** True if another process wrote while this shell did. */
  #isBehind = false;
  readonly #looks = new SerialQueue();

  /** `onChange`: called after the new entries of the path were printed, also if only other branches, the title or what is being written changed. */
  constructor(world: ShellWorld, changes: StoreWatcher, host: ShellHost, onChange: () => Promise<void>) {
    this.#world = world;
    this.#changes = changes;
    this.#host = host;
    this.#glyphs = glyphsFor(world.io.env);
    this.#onChange = onChange;
    // The record does not say what is being written, so the first change is told in any case.
    this.#known = contentOf(world.record, null);
  }

  start(): void {
    this.#changes.start(() => this.#follow(), this.#world.session.id);
  }

  end(): void {
    this.#changes.end();
  }

  /** Pauses refreshes while the shell writes. Resolves when a running refresh has ended. */
  async writerStarted(): Promise<void> {
    this.#writers += 1;
    await this.#looks.idle();
  }

  async writerEnded(): Promise<void> {
    this.#writers -= 1;
    if (this.#isBehind) await this.#follow();
  }

  #follow(): Promise<void> {
    this.#isBehind = this.#writers > 0;
    if (this.#isBehind) return this.#looks.idle();
    return this.#looks.run(() => this.#look());
  }

  async #look(): Promise<void> {
    try {
      const { session } = this.#world;
      const before = session.leafId;
      const after = await session.refresh();
      const [record, held] = await Promise.all([session.record(), this.#changes.readHeld()]);
      const content = contentOf(record, held.has(session.id));
      if (after === before && content === this.#known) return;
      this.#known = content;
      if (after !== before) this.#host.print(await this.#linesBetween(before, after));
      await this.#onChange();
    } catch (error) {
      const isDeleted = error instanceof SessionNotFoundError;
      if (isDeleted) this.end();
      this.#host.dispatch({ kind: "notice", text: isDeleted ? DELETED : failureNotice(error), isError: true });
    }
  }

  async #linesBetween(before: EntryId | null, after: EntryId | null): Promise<readonly Line[]> {
    const { session } = this.#world;
    const isBelow = before === null || (after !== null && (await session.tree.commonAncestor(before, after)) === before);
    const { items } = await session.scan({ order: "up", limit: MAX_ENTRIES + 1 });
    const end = items.findIndex(({ id }) => id === before);
    const fresh = isBelow ? items.slice(0, end < 0 ? MAX_ENTRIES : end) : items.slice(0, 1);
    const drawn = fresh.toReversed().flatMap((entry) => transcriptLines(entry, terminalWidth(this.#world), this.#glyphs));
    if (isBelow && drawn.length === 0) return [];
    const heading = isBelow ? "another process writes here" : "another process went to another place of the tree";
    const isWhole = isBelow && fresh.length < MAX_ENTRIES;
    const hint = isWhole ? [] : [[styled("dim", `${this.#glyphs.ellipsis} /tree shows the whole session`)]];
    return [[styled("dim", `${heading}:`)], ...hint, [], ...drawn];
  }
}

function contentOf({ title, entryCount, activeAtMs }: SessionRecord, isHeld: boolean | null): string {
  return JSON.stringify([title, entryCount, activeAtMs, isHeld]);
}
