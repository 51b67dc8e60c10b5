import { homedir } from "node:os";
import { SessionMasker, SessionMasks } from "@bough/formats/secrets";
import { BoughError, type SearchHit, type SessionId, type SessionRecord, type Store } from "@bough/session-core";
import { describeCopies, groupBy } from "@bough/session-core/engine";
import { costText, count, counted, PriceList } from "@bough/session-core/view";
import { toIsoTime } from "@bough/session-core/wire";
import { hitKind } from "../format/entry-lines.js";
import { errorLine } from "../format/error-text.js";
import { age, dateTime, parseTime } from "../format/time.js";
import { type SessionsWorld, searchConditions, withTotals } from "../session/chosen-sessions.js";
import type { KeptSessions } from "../session/kept-sessions.js";
import { agentOf, sessionTitle } from "../session/names.js";
import { sortSessions, toListedSession } from "../session/session-rows.js";
import { BEING_WRITTEN, type StoreWatcher } from "../session/store-watcher.js";
import { asksForEntries, bothOf, meetsRecord, parseTypedQuery, type SearchConditions, type TypedQuery } from "../session/typed-filters.js";
import { describeMatched, splitMatches, unfinishedQuery } from "../session/typed-text.js";
import { bareDocument } from "./document.js";
import { type Html, html, joinHtml, NOTHING } from "./html.js";
import { plainHit } from "./plain-text.js";
import type { StepOptions } from "./step-writer.js";

/** Sessions that are listed at first. */
const FIRST_SESSIONS = 200;

/** Hits that are read for one list, and those of each session that it has. */
const MAX_HITS = 400;
const HITS_OF_SESSION = 3;

/** A longer session is not read whole to mask a line of it: the line is masked by its form. */
const MAX_READ_BYTES = 4 * 1024 * 1024;

const TIMES = [
  ["", "Any time"],
  ["1d", "Last day"],
  ["1w", "Last week"],
  ["1mo", "Last month"],
  ["1y", "Last year"],
] as const;

/** The world of a list. */
export interface SessionListOptions extends Pick<StepOptions, "prices" | "private"> {
  readonly withSecrets: boolean;
  readonly now: () => number;
  readonly watcher: StoreWatcher;
  readonly kept: KeptSessions;
  /** The path of the server's secret folder, with a slash at its end. */
  readonly root: string;
}

type Conditions = ReturnType<typeof readConditions>;

/** The conditions of a list, as its form sends them. */
function readConditions(query: URLSearchParams) {
  const value = (name: string) => query.get(name) ?? "";
  return {
    words: value("q"),
    agent: value("agent"),
    directory: value("directory"),
    since: value("since"),
    group: value("group"),
    all: query.has("all"),
  };
}

/** A session of a list, with the hits of the search. */
interface Listed {
  readonly record: SessionRecord;
  readonly hits: readonly SearchHit[];
  /** 0: its original is not in the list above it. */
  readonly forkDepth: number;
}

/** Deeper forks are not indented further. */
const DEEPEST_FORK = 3;

const GROUPS = [
  ["", "Forks below originals"],
  ["directory", "By directory"],
  ["day", "By day"],
] as const;

/** The list of sessions as a page: those that the form of its address chooses, the most recently active first, or the best hits first. */
export async function* sessionListPage(
  store: Store,
  query: URLSearchParams,
  options: SessionListOptions,
): AsyncGenerator<string, void, void> {
  const conditions = readConditions(query);
  const records = await options.kept.list({});
  const list = new ListWriter(store, options, await options.watcher.readHeld());
  const found = await list.choose(records, conditions);
  const shown = conditions.all ? found.sessions : found.sessions.slice(0, FIRST_SESSIONS);
  const sessions = await list.write(shown, conditions);
  const said = `${counted(found.sessions.length, "session")}${found.note}`;
  const more =
    shown.length === found.sessions.length
      ? NOTHING
      : html`<p><a id="all" href="${allLink(conditions)}">Show all ${count(found.sessions.length)}</a></p>`;
  const content = html`<h1>Sessions</h1>${formHtml(records, conditions)}<p id="said" role="status">${said}</p>${sessions}${more}`;
  yield bareDocument("Sessions", content, "list").text;
}

/** The conditions that the form chose beside the query. */
function formConditions({ agent, directory, since }: Conditions, nowMs: number): SearchConditions {
  return {
    ...(agent === "" ? {} : { agents: [agent] }),
    ...(directory === "" ? {} : { cwd: directory }),
    ...(since === "" ? {} : { sinceMs: parseTime(since, nowMs) }),
  };
}

class ListWriter {
  readonly #store: Store;
  readonly #options: SessionListOptions;
  readonly #held: ReadonlySet<SessionId>;
  readonly #masks: SessionMasks | undefined;

  constructor(store: Store, options: SessionListOptions, held: ReadonlySet<SessionId>) {
    this.#store = store;
    this.#options = options;
    this.#held = held;
    this.#masks = options.withSecrets ? undefined : new SessionMasks();
  }

  async choose(
    records: readonly SessionRecord[],
    conditions: Conditions,
  ): Promise<{ readonly sessions: readonly Listed[]; readonly note: string }> {
    const { now } = this.#options;
    const typed = parseTypedQuery(conditions.words, { nowMs: now(), home: homedir() });
    const chosen = { ...typed, search: bothOf(typed.search, formConditions(conditions, now())) };
    try {
      if (asksForEntries(chosen)) return await this.#search(records, chosen);
      if (chosen.problem !== undefined) throw chosen.problem;
      const meeting = records.filter((record) => meetsRecord(record, chosen));
      const sessions = await withTotals(this.#world, meeting, chosen.sessions);
      return { sessions: inOrder(sessions, conditions.group === "" ? "threads" : "newest"), note: "" };
    } catch (error) {
      if (!(error instanceof BoughError)) throw error;
      return { sessions: [], note: `. ${errorLine(error)}` };
    }
  }

  /** The search of `bough search`: its hits by session, in the order of the best of each. */
  async #search(records: readonly SessionRecord[], typed: TypedQuery) {
    const known = new Map(records.map((record) => [record.id, record]));
    const page = await this.#store.search({
      ...(await searchConditions(this.#world, typed)),
      query: unfinishedQuery(typed.words),
      relax: true,
      includePrivate: this.#options.private === true,
      limit: MAX_HITS,
    });
    const sessions: Listed[] = [];
    for (const [id, hits] of groupBy(page.hits, ({ sessionId }) => sessionId)) {
      // A subagent is found and not listed; another process may have deleted a session since.
      const record = known.get(id) ?? (await this.#store.findSession(id));
      if (record !== undefined) sessions.push({ record, hits, forkDepth: 0 });
    }
    const best = page.next === null ? "" : `the best ${MAX_HITS} of `;
    return { sessions, note: `, ${best}${counted(page.total, "match", "matches")}${describeMatched(page.matched)}` };
  }

  get #world(): SessionsWorld {
    return { store: this.#store, kept: this.#options.kept, prices: async () => this.#options.prices ?? new PriceList() };
  }

  /** The list, or a list for each directory or day in the order of their first sessions. */
  async write(listed: readonly Listed[], { words, group }: Conditions): Promise<Html> {
    if (group !== "directory" && group !== "day")
      return html`<ul class="sessions" id="sessions">${joinHtml(await this.#items(listed, words))}</ul>`;
    const groups = groupBy(listed, ({ record: { activeAtMs, cwd } }) =>
      group === "day" ? dateTime(activeAtMs).slice(0, 10) : (cwd ?? "Without a directory"),
    );
    const sections: Html[] = [];
    for (const [name, found] of groups) {
      const members =
        group === "day" || words !== ""
          ? found
          : inOrder(
              found.map(({ record }) => record),
              "threads",
            );
      const [first] = members;
      const title = first === undefined ? name : await this.#mask(name, first.record);
      sections.push(html`<section><h2>${title}</h2><ul class="sessions">${joinHtml(await this.#items(members, words))}</ul></section>`);
    }
    return html`<div id="sessions">${joinHtml(sections)}</div>`;
  }

  async #items(listed: readonly Listed[], words: string): Promise<readonly Html[]> {
    const totals = await this.#store.totalsOf(listed.map(({ record }) => record.id));
    const prices = this.#options.prices ?? new PriceList();
    const items: Html[] = [];
    for (const one of listed) {
      const cost = prices.total(totals.get(one.record.id)?.usage ?? []);
      items.push(await this.#item(one, cost === null ? "" : costText(cost), words));
    }
    return items;
  }

  async #item({ record, hits, forkDepth }: Listed, cost: string, words: string): Promise<Html> {
    const { root, now } = this.#options;
    const href = `${root}${encodeURIComponent(record.id)}`;
    const facts = [
      agentOf(record),
      record.cwd ?? "",
      counted(record.messageCount, "message"),
      cost,
      record.parent === null ? "" : "fork",
      this.#held.has(record.id) ? BEING_WRITTEN : "",
    ].filter((fact) => fact !== "");
    const when = html`<time datetime="${toIsoTime(record.activeAtMs)}" title="${dateTime(record.activeAtMs)}">${age(record.activeAtMs, now())}</time>`;
    const texts = await Promise.all(
      hits
        .filter(({ entryId }) => entryId !== null)
        .slice(0, HITS_OF_SESSION)
        .map((hit) => this.#hitHtml(hit, record, `${href}?q=${encodeURIComponent(words)}`)),
    );
    const more =
      hits.length > HITS_OF_SESSION
        ? html`<li class="note">and ${counted(hits.length - HITS_OF_SESSION, "more match", "more matches")}</li>`
        : NOTHING;
    const found = texts.length === 0 ? NOTHING : html`<ol class="hits">${joinHtml(texts)}${more}</ol>`;
    const title = await this.#mask(sessionTitle(record), record);
    const indented = forkDepth === 0 ? NOTHING : html` class="fork${Math.min(forkDepth, DEEPEST_FORK)}"`;
    return html`<li${indented} data-session="${record.id}" data-entries="${record.entryCount}" data-active="${record.activeAtMs}"><a class="title" href="${href}">${title}</a><span class="facts">${when} · ${await this.#mask(facts.join(" · "), record)}</span>${found}</li>\n`;
  }

  async #hitHtml(hit: SearchHit, record: SessionRecord, href: string): Promise<Html> {
    const masked = await this.#mask(hit.snippet, record);
    const { snippet, matches } = plainHit(masked === hit.snippet ? hit : { ...hit, snippet: masked, matches: [] });
    const marked = splitMatches(snippet, matches).map(({ text, isMatch }) => (isMatch ? html`<mark>${text}</mark>` : html`${text}`));
    const copies = describeCopies(hit, false);
    const facts = [hitKind(hit), dateTime(hit.createdAtMs), ...(copies === "" ? [] : [copies])].join(", ");
    return html`<li><a href="${href}#e=${encodeURIComponent((hit.entryId ?? "").toWellFormed())}">${joinHtml(marked)}</a> <span class="size">${facts}</span></li>`;
  }

  async #mask(text: string, { id, payloadBytes }: SessionRecord): Promise<string> {
    if (this.#masks === undefined) return text;
    if (payloadBytes > MAX_READ_BYTES) return new SessionMasker().maskLine(text);
    return this.#masks.maskTitle(text, () => this.#store.openSession(id));
  }
}

/** Sessions without hits, forks below their originals or the newest first. */
function inOrder(records: readonly SessionRecord[], order: "threads" | "newest"): readonly Listed[] {
  const rows = sortSessions(records.map(toListedSession), order);
  return rows.map(({ session: { record }, depth }) => ({ record, hits: [], forkDepth: depth }));
}

function formHtml(records: readonly SessionRecord[], { words, agent, directory, since, group }: Conditions): Html {
  const agents = [...new Set(records.map(agentOf))].sort();
  const directories = [...new Set(records.flatMap(({ cwd }) => cwd ?? []))].sort();
  return html`<form id="filter" role="search"><input type="search" name="q" id="words" value="${words}" aria-label="Search all sessions" placeholder="Search all sessions ( / )" autocomplete="off" spellcheck="false">${selectHtml("agent", "Agent", withAny("All agents", agents), agent)}${selectHtml("directory", "Directory", withAny("All directories", directories), directory)}${selectHtml("since", "Time", TIMES, since)}${selectHtml("group", "Order", GROUPS, group)}<button id="go">Search</button></form>`;
}

function withAny(any: string, values: readonly string[]): readonly (readonly [value: string, name: string])[] {
  return [["", any], ...values.map((value) => [value, value] as const)];
}

function selectHtml(name: string, label: string, choices: readonly (readonly [value: string, name: string])[], chosen: string): Html {
  const options = choices.map(
    ([value, text]) => html`<option value="${value}"${value === chosen ? html` selected` : NOTHING}>${text}</option>`,
  );
  return html`<select name="${name}" aria-label="${label}">${joinHtml(options)}</select>`;
}

function allLink({ words, agent, directory, since, group }: Conditions): string {
  return `?${new URLSearchParams({ q: words, agent, directory, since, group, all: "1" })}`;
}
