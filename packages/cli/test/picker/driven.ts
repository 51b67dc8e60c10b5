import { assistantMessage, type NewSession, openStore, type SessionRecord, type Store, userMessage } from "@bough/session-core";
import { onTestFinished } from "vitest";
import type { PickerEffect, PickerEvent, PickerModel } from "../../src/picker/model.js";
import { type PickerOptions, pickerScreen } from "../../src/picker/picker.js";
import { glyphsFor } from "../../src/terminal/glyphs.js";
import { textOfLine } from "../../src/terminal/line.js";
import type { KeyEvent, Performer, Size, TerminalEvent } from "../../src/tui/screen.js";
import { NOON } from "../world.js";

export const HERE = "/home/ann/project";

const IO = { cwd: HERE, env: {}, home: "/home/ann", now: () => NOON };

/** A picker whose effects are recorded, not performed. */
export function pickerOn(store: Store, size: Size, options: Partial<PickerOptions> = {}): Driven {
  return new Driven({ store, io: IO, glyphs: glyphsFor({}), ...options }, size);
}

/** A store in memory that is closed after the test. */
export async function memoryStore(): Promise<Store> {
  const store = await openStore({ path: ":memory:" });
  onTestFinished(() => store.close());
  return store;
}

/** A picker driven by keys; its effects are carried out when `until` waits for what comes of them. */
export class Driven {
  readonly screen;
  readonly performer: Performer<PickerEffect>;
  readonly effects: PickerEffect[] = [];
  model: PickerModel;
  #waiting: (() => void)[] = [];

  constructor(options: PickerOptions, size: Size) {
    this.screen = pickerScreen(options);
    this.performer = this.screen.performer({
      dispatch: (event) => this.#receive(event),
      print: () => undefined,
      copy: () => undefined,
    });
    const { model, effects } = this.screen.start(size);
    this.model = model;
    this.effects.push(...effects);
  }

  event(event: TerminalEvent | PickerEvent): this {
    const { model, effects } = this.screen.update(this.model, event);
    this.model = model;
    this.effects.push(...effects);
    return this;
  }

  /** Presses keys: names of keys, or characters that also type. */
  press(...keys: readonly string[]): this {
    for (const key of keys) this.event(keyEvent(key));
    return this;
  }

  /** Types a text, character by character. */
  type(text: string): this {
    return this.press(...text);
  }

  /** Dispatches sessions as if the store had listed them. */
  listed(...records: readonly SessionRecord[]): this {
    const { scope, lists } = this.model;
    return this.event({ kind: "sessions", scope, round: lists[scope].round, records, held: new Set(), isLast: true, nowMs: NOON });
  }

  /** The effects since this was asked last. */
  wanted(): readonly PickerEffect[] {
    return this.effects.splice(0);
  }

  /** Carries effects out until the model is as wanted. */
  async until(holds: (model: PickerModel) => boolean): Promise<this> {
    for (;;) {
      for (const effect of this.wanted()) this.performer.perform(effect);
      if (holds(this.model)) return this;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #receive(event: PickerEvent): void {
    this.event(event);
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** What is on the screen, blanks at the ends of lines left out. */
  get lines(): readonly string[] {
    return this.screen.view(this.model).lines.map(({ line }) => textOfLine(line).trimEnd());
  }

  get text(): string {
    return this.lines.join("\n");
  }

  /** The titles in the list, in order. */
  get titles(): readonly string[] {
    return this.model.rows.map(({ session }) => session.record.title ?? session.record.firstText ?? "");
  }

  get selectedTitle(): string | undefined {
    return this.titles[this.model.selected];
  }
}

function keyEvent(key: string): KeyEvent {
  if (key === "space" || key === " ") return { kind: "key", key: "space", text: " " };
  return [...key].length === 1 ? { kind: "key", key, text: key } : { kind: "key", key };
}

const HOUR = 3_600_000;

/** A record of a session that was active so many hours before noon. */
export function record(title: string, hoursAgo: number, about: Partial<SessionRecord> & { readonly forkOf?: string } = {}): SessionRecord {
  const { forkOf, ...fields } = about;
  return {
    id: `id-${title}`,
    kind: "conversation",
    title,
    titleSource: "user",
    cwd: HERE,
    createdAtMs: NOON - hoursAgo * HOUR,
    activeAtMs: NOON - hoursAgo * HOUR,
    archivedAtMs: null,
    parent: forkOf === undefined ? null : { sessionId: `id-${forkOf}`, entryId: null, toolCallId: null },
    entryCount: 4,
    messageCount: 4,
    payloadBytes: 12_345,
    firstText: "first words",
    source: null,
    metadata: {},
    ...fields,
  };
}

/** Creates a session with alternating user and assistant texts, the last one so many hours before noon. */
export async function createConversation(
  store: Store,
  about: NewSession & { readonly id: string },
  hoursAgo: number,
  ...texts: readonly string[]
): Promise<void> {
  const session = await store.createSession({ cwd: HERE, createdAtMs: NOON - hoursAgo * HOUR, ...about });
  for (const [at, text] of texts.entries()) {
    const message = at % 2 === 0 ? userMessage(text) : { ...assistantMessage(text) };
    await session.append({ ...message, createdAtMs: NOON - hoursAgo * HOUR });
  }
}
