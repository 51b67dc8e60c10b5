import type { BranchState } from "../sent.js";
import { element, keep, make, readKept, stepOf } from "./dom.js";
import type { SessionServer } from "./server.js";
import { lengthOf, type Windows } from "./windows.js";

/** A reader this near to the end sees what arrives. */
const NEAR_END = 160;

/** The actions of a page when entries arrive, beside showing them. */
interface FollowParts {
  readonly goToEnd: () => Promise<void>;
  /** Scrolls to the end; the focus stays where it is. */
  readonly scrollToEnd: () => Promise<void>;
  /** Called after entries, labels or branches have changed. */
  readonly onChange: () => Promise<void>;
}

/**
 * Follows a session: a stream of events says that it has changed, and the page asks for what is new. An event carries the version alone,
 * so that one that was lost is healed by the next. A hidden page has no stream: browsers allow six connections to a server.
 */
export class Follower {
  readonly #server: SessionServer;
  readonly #book: Windows;
  readonly #parts: FollowParts;
  readonly #key: string;
  readonly #pill = make("button", "", "pill");
  readonly #line = make("p", "New since you were here", "seen");
  readonly #live = make("span", "", "live");
  #events: EventSource | undefined;
  #isUpdating = false;
  #isBehind = false;
  /** A request may have failed since the page was last connected. */
  #isLost = false;
  /** Entries that arrived below what the reader sees. */
  #unread = 0;
  /** Entries that the session had when the reader was last here; the line is drawn above the next one. */
  #seenBefore: number;
  /** Entries that the reader has had on screen. */
  #seen: number;

  constructor(server: SessionServer, book: Windows, session: string, parts: FollowParts) {
    this.#server = server;
    this.#book = book;
    this.#parts = parts;
    this.#key = `bough-seen:${session}`;
    this.#seenBefore = Number(readKept(this.#key) ?? 0);
    this.#seen = this.#seenBefore;
    this.#line.setAttribute("role", "separator");
    this.#line.setAttribute("aria-label", "New since you were here");
    this.#pill.type = "button";
    this.#pill.hidden = true;
    this.#pill.addEventListener("click", () => void this.#goToNew());
    this.#live.setAttribute("role", "status");
    element("name").after(this.#live);
    element("conversation").append(this.#pill);
    book.onChange(() => this.#drawLine());
    const missed = this.#seenBefore === 0 ? 0 : book.state.total - this.#seenBefore;
    if (missed > 0) this.#showPill(missed);
    document.addEventListener("visibilitychange", () => this.#onVisibility());
    addEventListener("scroll", () => this.#isAtEnd && this.#hidePill(), { passive: true });
    this.#onVisibility();
  }

  /** Remembers how far the reader has read. `step`: the last one on screen. */
  read(step: number): void {
    if (document.hidden) return;
    // The same session may have been read further in another tab.
    const seen = this.#isAtEnd ? this.#book.state.total : Math.max(this.#seen, Number(readKept(this.#key) ?? 0), step + 1);
    if (seen === this.#seen) return;
    this.#seen = seen;
    keep(this.#key, String(seen));
  }

  get #isAtEnd(): boolean {
    return this.#book.state.isLive && element("path").getBoundingClientRect().bottom < innerHeight + NEAR_END;
  }

  #onVisibility(): void {
    if (document.hidden) {
      this.#events?.close();
      this.#events = undefined;
      this.#seenBefore = this.#seen;
      return;
    }
    this.#events ??= this.#connect();
  }

  #connect(): EventSource {
    const events = new EventSource(this.#server.address("events"));
    events.addEventListener("open", () => this.#onOpen());
    events.addEventListener("error", () => this.#onLost());
    events.addEventListener("message", ({ data }) => {
      const { version }: { readonly version: string } = JSON.parse(data);
      if (version === "deleted") {
        events.close();
        this.#say("This session was deleted", "off");
      } else if (version !== this.#book.state.version) void this.#update();
    });
    return events;
  }

  #onOpen(): void {
    this.#say("Live", "on");
    if (!this.#isLost) return;
    this.#isLost = false;
    this.#book.loadNear();
    this.#parts.onChange().catch(() => this.#onLost());
  }

  #onLost(): void {
    this.#isLost = true;
    this.#say("Not connected", "off");
  }

  #say(text: string, state: string): void {
    this.#live.textContent = text;
    this.#live.dataset["state"] = state;
  }

  /** Asks for the new state. Events that come meanwhile are one more question after it. */
  async #update(): Promise<void> {
    this.#isBehind = true;
    if (this.#isUpdating) return;
    this.#isUpdating = true;
    try {
      while (this.#isBehind) {
        this.#isBehind = false;
        const { tip, total } = this.#book.state;
        await this.#show(await this.#server.json<BranchState>("state", { tip: tip ?? "", rows: total }));
      }
    } catch {
      this.#onLost();
    } finally {
      this.#isUpdating = false;
    }
  }

  async #show(state: BranchState): Promise<void> {
    const before = this.#book.state;
    const follows = this.#isAtEnd;
    this.#book.apply(state);
    if (state.title !== before.title) showTitle(state.title);
    element("held").hidden = !state.isHeld || !state.isLive;
    const grown = lengthOf(state) - lengthOf(before);
    const elsewhere = state.total - before.total - Math.max(0, grown);
    if (follows && state.isLive) await this.#parts.scrollToEnd();
    else if (grown > 0 || elsewhere > 0) this.#showPill(this.#unread + Math.max(grown, elsewhere));
    await this.#parts.onChange();
  }

  #showPill(count: number): void {
    this.#unread = count;
    this.#pill.textContent = this.#book.state.isLive ? `${count} new ↓` : `${count} new on another branch ↷`;
    this.#pill.hidden = false;
  }

  #hidePill(): void {
    this.#unread = 0;
    this.#pill.hidden = true;
  }

  /** Goes to the first entry that is new for the reader, or to the end. */
  async #goToNew(): Promise<void> {
    this.#hidePill();
    if (!this.#book.state.isLive) {
      this.#book.apply(await this.#server.json<BranchState>("state", { tip: "", rows: 0 }));
    }
    await this.#parts.goToEnd();
  }

  /** Draws the line above the first entry that is new since the last visit. */
  #drawLine(): void {
    this.#line.remove();
    if (this.#seenBefore === 0 || this.#seenBefore >= this.#book.state.total) return;
    const articles = element("path").querySelectorAll<HTMLElement>("article");
    let above: HTMLElement | undefined;
    for (const article of articles) {
      if (stepOf(article) >= this.#seenBefore) {
        if (above !== undefined) article.before(this.#line);
        return;
      }
      above = article;
    }
  }
}

function showTitle(title: string): void {
  document.title = title;
  element("name").textContent = title;
  const heading = document.querySelector("#intro h1");
  if (heading !== null) heading.textContent = title;
}
