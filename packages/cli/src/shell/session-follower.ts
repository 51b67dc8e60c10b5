import { type Entry, type EntryId, SessionNotFoundError, type SessionRecord } from "@bough/session-core";
import { SerialQueue } from "@bough/session-core/engine";
import type { StoreWatcher } from "../session/store-watcher.js";
import type { Glyphs } from "../terminal/glyphs.js";
import { type Line, styled } from "../terminal/line.js";
import { transcriptLines } from "./transcript.js";
import type { ShellWorld } from "./world.js";

/** The most entries of another process that are printed at once. */
const MAX_ENTRIES = 30;

/** Callbacks of the shell for changes by other processes. They must not reject. */
export interface FollowerEvents {
  /** The lines of the new entries of the path; none if only other branches, the title or what is being written changed. */
  readonly onChange: (lines: readonly Line[]) => Promise<void>;
  readonly onDeleted: () => void;
  readonly onFailure: (error: unknown) => void;
}

/**
 * Moves the handle of the shell's session to the leaf that another process set, and draws the new entries of the path. While the
 * shell itself writes, the handle is not refreshed; it is refreshed when the last of its writers has ended.
 */
export class SessionFollower {
  readonly #world: ShellWorld;
  readonly #changes: StoreWatcher;
  readonly #glyphs: Glyphs;
  readonly #widthOf: () => number;
  #events: FollowerEvents | undefined;
  #known: string;
  #writers = 0;
  /** True if another process wrote while this shell did. */
  #isBehind = false;
  readonly #looks = new SerialQueue();

  constructor(world: ShellWorld, changes: StoreWatcher, glyphs: Glyphs, widthOf: () => number) {
    this.#world = world;
    this.#changes = changes;
    this.#glyphs = glyphs;
    this.#widthOf = widthOf;
    // The record does not say what is being written, so the first change is told in any case.
    this.#known = contentOf(world.record, null);
  }

  start(events: FollowerEvents): void {
    this.#events = events;
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
    return this.#looks.run(() => this.#look().catch((error: unknown) => this.#events?.onFailure(error)));
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
      await this.#events?.onChange(after === before ? [] : await this.#linesBetween(before, after));
    } catch (error) {
      if (!(error instanceof SessionNotFoundError)) throw error;
      this.end();
      this.#events?.onDeleted();
    }
  }

  async #linesBetween(before: EntryId | null, after: EntryId | null): Promise<readonly Line[]> {
    const { session } = this.#world;
    const isBelow = before === null || (after !== null && (await session.tree.commonAncestor(before, after)) === before);
    const { items } = await session.scan({ order: "up", limit: MAX_ENTRIES + 1 });
    const end = items.findIndex(({ id }) => id === before);
    const fresh = isBelow ? items.slice(0, end < 0 ? MAX_ENTRIES : end) : items.slice(0, 1);
    const drawn = this.#draw(fresh);
    if (isBelow && drawn.length === 0) return [];
    const heading = isBelow ? "another process writes here" : "another process went to another place of the tree";
    const isWhole = isBelow && fresh.length < MAX_ENTRIES;
    const hint = isWhole ? [] : [[styled("dim", `${this.#glyphs.ellipsis} /tree shows the whole session`)]];
    return [[styled("dim", `${heading}:`)], ...hint, [], ...drawn];
  }

  #draw(newestFirst: readonly Entry[]): readonly Line[] {
    return newestFirst.toReversed().flatMap((entry) => transcriptLines(entry, this.#widthOf(), this.#glyphs));
  }
}

function contentOf({ title, entryCount, activeAtMs }: SessionRecord, isHeld: boolean | null): string {
  return JSON.stringify([title, entryCount, activeAtMs, isHeld]);
}
