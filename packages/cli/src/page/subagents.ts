import type { Entry, EntryId, Session, SessionId, SessionRecord } from "@bough/session-core";
import { counted, type Step } from "@bough/session-core/view";
import { dateTime } from "../format/time.js";
import { sessionTitle } from "../session/names.js";
import { type Html, html, joinHtml, NOTHING } from "./html.js";
import { type StepOptions, StepWriter } from "./step-writer.js";

interface Subagent {
  readonly session: Session;
  readonly record: SessionRecord;
}

/**
 * The sessions of subagents in an exported page: each folded below the call that started it, with the ones that it started itself. A browser
 * without scripts unfolds them too. Memory: the text of one subagent.
 */
export class PageSubagents {
  readonly #options: StepOptions;
  /** Those that are not written yet: each is written once, also if imported sessions are each other's parents. */
  readonly #waiting: Map<SessionId, Subagent>;
  /** The writers of those that were written, by which a page says what it leaves out. */
  readonly writers: StepWriter[] = [];

  private constructor(subagents: readonly Subagent[], options: StepOptions) {
    this.#options = options;
    this.#waiting = new Map(subagents.map((one) => [one.record.id, one]));
  }

  static async of(sessions: readonly Session[], options: StepOptions): Promise<PageSubagents> {
    const subagents: Subagent[] = [];
    for (const session of sessions) subagents.push({ session, record: await session.record() });
    return new PageSubagents(subagents, options);
  }

  /** The subagents that entries of a session started. */
  async startedBy(sessionId: SessionId, entryIds: readonly EntryId[]): Promise<Html> {
    return this.#take(({ parent }) => parent?.sessionId === sessionId && parent.entryId !== null && entryIds.includes(parent.entryId));
  }

  /** The subagents of a session of which nobody recorded which entry started them, or of which that entry is not known. */
  async withoutPlace(sessionId: SessionId, isKnown: (id: EntryId) => boolean): Promise<Html> {
    return this.#take(({ parent }) => parent?.sessionId === sessionId && (parent.entryId === null || !isKnown(parent.entryId)));
  }

  async #take(isTaken: (record: SessionRecord) => boolean): Promise<Html> {
    if (this.#waiting.size === 0) return NOTHING;
    const taken = [...this.#waiting.values()].filter(({ record }) => isTaken(record));
    if (taken.length === 0) return NOTHING;
    taken.sort((a, b) => a.record.createdAtMs - b.record.createdAtMs);
    for (const { record } of taken) this.#waiting.delete(record.id);
    const items: Html[] = [];
    for (const one of taken) items.push(await this.#write(one));
    return html`<div class="subagents"><p class="note">${counted(taken.length, "subagent")}:</p>${joinHtml(items)}</div>`;
  }

  async #write({ session, record }: Subagent): Promise<Html> {
    const writer = new StepWriter(record, new Map(), this.#options);
    this.writers.push(writer);
    const leafId = await session.refresh();
    const steps: Html[] = [];
    const onPath = new Set<EntryId>();
    let last = "";
    const started = (ids: readonly EntryId[]) => this.startedBy(record.id, ids);
    for await (const { step, written, hasOwn } of writer.steps(entriesTo(session, leafId, onPath), started)) {
      const heading = !hasOwn || written.heading === last ? NOTHING : headingHtml(written.heading, timeOf(step));
      if (hasOwn) last = written.heading;
      steps.push(html`<div class="step ${written.kind}">${heading}${written.body}</div>\n`);
    }
    const others = record.entryCount - onPath.size;
    const note = others > 0 ? html`<p class="note">${counted(others, "entry", "entries")} of other branches are not shown.</p>` : NOTHING;
    const unplaced = await this.withoutPlace(record.id, (id) => onPath.has(id));
    const title = writer.masks.maskLine(sessionTitle(record));
    return html`<details class="subagent"><summary>Subagent <b>${title}</b> <span class="size">${counted(record.messageCount, "message")}</span></summary>${joinHtml(steps)}${note}${unplaced}</details>`;
  }
}

async function* entriesTo(session: Session, leafId: EntryId | null, seen: Set<EntryId>): AsyncGenerator<Entry> {
  for await (const entry of session.walk({ leafId })) {
    seen.add(entry.id);
    yield entry;
  }
}

function timeOf(step: Step): string {
  return step.kind === "entry" ? dateTime(step.entry.createdAtMs) : "";
}

function headingHtml(heading: string, time: string): Html {
  return heading === ""
    ? NOTHING
    : html`<p class="who"><b>${heading}</b>${time === "" ? NOTHING : html` <span class="size">${time}</span>`}</p>`;
}
