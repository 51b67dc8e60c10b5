import { EventEmitter, once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { type EntryId, type Session, type SessionId, SessionNotFoundError, type SessionRecord, type Store } from "@bough/session-core";
import { KeptSessions } from "../session/kept-sessions.js";
import { StoreWatcher } from "../session/store-watcher.js";
import { listSubagents } from "../session/subagents.js";
import { NONE } from "../tree/tree-index.js";
import { comparePage } from "./compare-page.js";
import { LearningMasks } from "./learning-masks.js";
import type { BranchState, EntryPlace, FoundInSession, TreeState } from "./sent.js";
import { findInSession } from "./served-find.js";
import { ServedPage } from "./served-page.js";
import { ServedSession } from "./served-session.js";
import type { Answer, PageRequest, SendEvent } from "./server.js";
import { sessionListPage } from "./session-list.js";
import type { StepOptions } from "./step-writer.js";

/** The part of a store that a server shows. */
export interface ServedStoreOptions extends Omit<StepOptions, "masks"> {
  /** Only this session and its subagents; undefined: all, with a list of them. */
  readonly only: Session | undefined;
  readonly withSecrets: boolean;
  /** The store as an argument of a command; undefined: the one that commands take by themselves. */
  readonly store: string | undefined;
  readonly now: () => number;
}

/** A session of which a page was asked for. */
interface Opened {
  readonly served: ServedSession;
  readonly page: ServedPage;
  /** undefined: its secrets are shown. */
  readonly masks: LearningMasks | undefined;
}

/** Sessions whose outline is remembered at once. */
const MAX_OPENED = 8;

/** The least time between two events of a list: to read 10,000 sessions and write their list takes a tenth of it. */
const LIST_PAUSE_MS = 1000;

/** Answers the requests of a page server: the list of sessions, their pages, and what the scripts of these ask for. */
export class ServedStore {
  readonly #store: Store;
  readonly #options: ServedStoreOptions;
  readonly #watcher: StoreWatcher;
  /** The sessions that lists choose from. The server itself writes none. */
  readonly #kept: KeptSessions;
  /** In the order of their last use. */
  readonly #opened = new Map<SessionId, Opened>();
  /** Emits `change` after something was written to the store. Each client that waits has a listener. */
  readonly #changes = new EventEmitter().setMaxListeners(0);

  constructor(store: Store, options: ServedStoreOptions) {
    this.#store = store;
    this.#options = options;
    this.#watcher = new StoreWatcher(store, options.now);
    this.#kept = new KeptSessions(store);
  }

  /** Watches the store, until `end`. Of a single session the outline is read at once, while the browser starts. `root`: that of the requests. */
  async start(root: string): Promise<void> {
    this.#watcher.start(() => this.#wake());
    const { only } = this.#options;
    if (only === undefined) return;
    const { served } = await this.#open(await only.record(), root);
    // A failure is reported by the request that needs the outline.
    served.update().catch(() => undefined);
  }

  end(): void {
    this.#watcher.end();
    this.#kept.end();
    this.#wake();
  }

  /** @throws {SessionNotFoundError | EntryNotFoundError} */
  async answer({ path: [name = "", part, ...rest], query, root }: PageRequest): Promise<Answer> {
    const { only } = this.#options;
    if (rest.length > 0) return undefined;
    if (name === "" && part === undefined && only === undefined) return { kind: "page", pieces: this.#listPage(query, root) };
    if (name === "" && part === "events" && only === undefined)
      return { kind: "events", follow: (send, signal) => this.#followList(send, signal) };
    const id = name === "" ? only?.id : name;
    if (id === undefined || !(await this.#isServed(id))) return undefined;
    const record = await (await this.#store.openSession(id)).record();
    const opened = await this.#open(record, root);
    if (part === undefined) return { kind: "page", pieces: opened.page.write(record, query.get("at") ?? undefined) };
    if (part === "events") return { kind: "events", follow: (send, signal) => this.#follow(opened, send, signal) };
    // A server that was started again, or a session that was forgotten: the page goes on with what it asks for.
    if (opened.served.index.size === 0) await opened.served.update();
    // No page was written of a session that was forgotten: the parts themselves see to its secrets.
    await opened.masks?.learn(record.payloadBytes);
    opened.masks?.learnLater();
    return this.#part(opened, part, query);
  }

  async #isServed(id: SessionId): Promise<boolean> {
    const { only } = this.#options;
    if (only === undefined || only.id === id) return true;
    return (await listSubagents(this.#store, only.id)).some((record) => record.id === id);
  }

  async #open(record: SessionRecord, root: string): Promise<Opened> {
    const opened = this.#opened.get(record.id) ?? (await this.#newOpened(record.id, root));
    this.#opened.delete(record.id);
    this.#opened.set(record.id, opened);
    const [oldest] = this.#opened.keys();
    if (this.#opened.size > MAX_OPENED && oldest !== undefined) this.#opened.delete(oldest);
    return opened;
  }

  async #newOpened(id: SessionId, root: string): Promise<Opened> {
    const { only, withSecrets, now: _now, ...options } = this.#options;
    // A handle of its own: its leaf moves only by `update`.
    const session = await this.#store.openSession(id);
    const served = new ServedSession(session, this.#watcher, { showsPrivate: options.private === true });
    const onLearned = () => {
      served.outdate();
      this.#wake();
    };
    const masks = withSecrets ? undefined : new LearningMasks(session, onLearned);
    return { served, masks, page: new ServedPage(this.#store, served, masks, { ...options, root, hasList: only === undefined }) };
  }

  async #part({ served, page }: Opened, part: string, query: URLSearchParams): Promise<Answer> {
    const row = (name: string) => this.#rowOf(served, query.get(name));
    const figure = (name: string) => Number(query.get(name) ?? 0);
    const json = <Sent>(value: Sent): Answer => ({ kind: "json", value });
    switch (part) {
      case "state":
        return json<BranchState>(page.state(served.continuationOf(row("tip"), figure("rows"))));
      case "where":
        return json<EntryPlace | null>(row("e") === NONE ? null : { row: row("e"), state: page.state(served.endOf(row("e"))) });
      case "prompt":
        return json(served.promptFrom(served.pathTo(row("tip")), figure("row"), figure("by") < 0 ? -1 : 1) ?? null);
      case "block":
        return { kind: "page", pieces: page.block(row("tip"), { from: figure("from"), to: figure("to") }) };
      case "tree":
        return json<TreeState>({
          roots: page.tree.roots,
          lines: Object.fromEntries([...page.tree.roots, ...query.getAll("line")].map((line) => [line, page.tree.chunks(line) ?? []])),
        });
      case "rows":
        return { kind: "page", pieces: page.rows(query.get("line") ?? "", figure("chunk")) };
      case "find":
        return json<FoundInSession>(
          await findInSession(this.#store, served, query.get("q") ?? "", { ...this.#options, masks: page.masks }),
        );
      case "compare":
        return { kind: "page", pieces: comparePage(served, page, row("a"), row("b")) };
      default:
        return undefined;
    }
  }

  #rowOf(served: ServedSession, id: EntryId | null): number {
    return id === null ? NONE : served.index.indexOf(id);
  }

  #listPage(query: URLSearchParams, root: string): AsyncIterable<string> {
    return sessionListPage(this.#store, query, { ...this.#options, watcher: this.#watcher, kept: this.#kept, root });
  }

  /** Sends the version of a session whenever it changes, the first one at once. A client that reads slowly misses none but the last. */
  async #follow({ served, page }: Opened, send: SendEvent, signal: AbortSignal): Promise<void> {
    let sent: string | undefined;
    while (!signal.aborted) {
      const changed = this.#nextChange(signal);
      try {
        await served.update();
      } catch (error) {
        if (!(error instanceof SessionNotFoundError)) throw error;
        return send({ id: "deleted", data: { version: "deleted" } });
      }
      const { version } = served;
      if (version !== sent) {
        page.renew();
        await send({ id: version, data: { version } });
      }
      sent = version;
      await changed;
    }
  }

  /** Tells of writes, the first time at once, then once a second at most: for each event a client asks for the whole list. */
  async #followList(send: SendEvent, signal: AbortSignal): Promise<void> {
    for (let count = 0; !signal.aborted; count += 1) {
      const changed = this.#nextChange(signal);
      await send({ id: String(count), data: { count } });
      await Promise.all([changed, delay(LIST_PAUSE_MS, undefined, { signal, ref: false }).catch(() => undefined)]);
    }
  }

  /** Resolves when something was written to the store, or the signal is aborted. */
  #nextChange(signal: AbortSignal): Promise<unknown> {
    return once(this.#changes, "change", { signal }).catch(() => undefined);
  }

  #wake(): void {
    this.#changes.emit("change");
  }
}
