import { BoughError, InvalidQueryError, type SearchHit, type SearchRequest, type SessionId, type Store } from "@bough/session-core";
import type { PriceList } from "@bough/session-core/view";
import { errorLine } from "../format/error-text.js";
import { markedPreview } from "../preview/entry.js";
import { searchConditions } from "../session/chosen-sessions.js";
import { KeptSessions } from "../session/kept-sessions.js";
import { sessionTitle } from "../session/names.js";
import { hitPages } from "../session/paging.js";
import { readPrices } from "../session/prices.js";
import { bothOf, conflictOf, parseTypedQuery } from "../session/typed-filters.js";
import { NewestOnly } from "../session/typed-search.js";
import { unfinishedQuery } from "../session/typed-text.js";
import { glyphsFor } from "../terminal/glyphs.js";
import type { Io } from "../terminal/io.js";
import { type Line, styled } from "../terminal/line.js";
import type { Performer, ScreenHost } from "../tui/screen.js";
import { type FinderEffect, type FinderEvent, type FoundSession, ROLE_CONDITIONS } from "./model.js";

/** The store that the finder searches, and the conditions of each search. */
export interface FinderWorld {
  readonly store: Store;
  readonly io: Pick<Io, "env" | "home" | "now">;
  /** Conditions that hold for every query, such as a time. */
  readonly conditions: Omit<SearchRequest, "query" | "limit" | "cursor">;
  /** The conditions for people, as the command line names them; default: none. */
  readonly described?: string | undefined;
}

/** Hits of the first page, which has to arrive fast, and of the following ones. */
const FIRST_PAGE = 40;
const NEXT_PAGE = 120;

/** Maximum hits of a query. A user who needs others adds a word to the query. */
const MAX_HITS = 400;

type EffectOf<Kind extends FinderEffect["kind"]> = Extract<FinderEffect, { kind: Kind }>;

/** Carries out the effects of one finder: of searches and of previews only the newest. */
export class FinderPerformer implements Performer<FinderEffect> {
  readonly #world: FinderWorld;
  readonly #dispatch: ScreenHost<FinderEvent>["dispatch"];
  readonly #sessions = new Map<SessionId, FoundSession>();
  readonly #kept: KeptSessions;
  #prices: Promise<PriceList> | undefined;
  readonly #searches = new NewestOnly<EffectOf<"search">>((effect, isWanted) => this.#search(effect, isWanted));
  readonly #previews = new NewestOnly<EffectOf<"preview">>((effect) => this.#preview(effect));

  constructor(world: FinderWorld, { dispatch }: ScreenHost<FinderEvent>) {
    this.#world = world;
    this.#dispatch = dispatch;
    this.#kept = new KeptSessions(world.store);
  }

  /** Starts an effect. Failures are dispatched as events. */
  perform(effect: FinderEffect): void {
    if (effect.kind === "search") this.#searches.start(effect);
    else this.#previews.start(effect);
  }

  /** Abandons what runs. */
  end(): void {
    this.#searches.end();
    this.#previews.end();
    this.#kept.end();
  }

  async #search({ query, queryId, role, sessionId }: EffectOf<"search">, isWanted: () => boolean): Promise<void> {
    const { store, conditions, io } = this.#world;
    const typed = parseTypedQuery(query, { nowMs: io.now(), home: io.home });
    const words = unfinishedQuery(typed.words);
    const hits: SearchHit[] = [];
    try {
      const conflict = conflictOf(conditions, typed.search);
      if (conflict !== undefined) throw new InvalidQueryError(query, conflict);
      const prices = () => (this.#prices ??= readPrices(io));
      const asked = [conditions, ROLE_CONDITIONS[role], await searchConditions({ store, prices, kept: this.#kept }, typed)].reduce((a, b) =>
        bothOf(a, b),
      );
      const within = sessionId === null ? {} : { sessionId };
      // A screen is read by the person whose entries these are, so it has the private ones too.
      const request = { ...conditions, ...asked, ...within, query: words, relax: true, includePrivate: true, limit: FIRST_PAGE };
      for await (const page of hitPages(store, request, NEXT_PAGE)) {
        hits.push(...page.hits);
        const sessions = await this.#sessionsOf(page.hits);
        const isLast = page.next === null || hits.length >= MAX_HITS;
        const found = { hits: [...hits], sessions, total: page.total, words: { query: words, matched: page.matched } };
        if (isWanted()) this.#dispatch({ kind: "found", queryId, found, isLast, nowMs: io.now() });
        // Pending keys are handled between two pages.
        await new Promise(setImmediate);
        if (isLast || !isWanted()) return;
      }
    } catch (error) {
      if (!(error instanceof BoughError)) throw error;
      this.#dispatch({ kind: "failed", queryId, problem: errorLine(error) });
    }
  }

  async #sessionsOf(hits: readonly SearchHit[]): Promise<ReadonlyMap<SessionId, FoundSession>> {
    for (const { sessionId } of hits) {
      if (this.#sessions.has(sessionId)) continue;
      const record = await this.#world.store.findSession(sessionId);
      // Another process may have deleted it since the search.
      if (record === undefined) continue;
      this.#sessions.set(sessionId, { id: sessionId, title: sessionTitle(record), cwd: record.cwd, activeAtMs: record.activeAtMs });
    }
    return new Map(this.#sessions);
  }

  async #preview({ hit, width, words }: EffectOf<"preview">): Promise<void> {
    const { store, io } = this.#world;
    try {
      if (hit.entryId === null) return this.#dispatch({ kind: "previewed", hit, width, lines: titleLines(hit), places: [] });
      const session = await store.openSession(hit.sessionId);
      this.#prices ??= readPrices(io);
      const subject = { entry: await session.entry(hit.entryId), sessionId: hit.sessionId, prices: await this.#prices };
      this.#dispatch({ kind: "previewed", hit, width, ...markedPreview(subject, width, glyphsFor(io.env), words) });
    } catch (error) {
      if (!(error instanceof BoughError)) throw error;
      this.#dispatch({ kind: "previewed", hit, width, lines: [[styled("error", errorLine(error))]], places: [] });
    }
  }
}

function titleLines({ snippet }: SearchHit): readonly Line[] {
  return [[styled("bold", "title")], [], [snippet]];
}
