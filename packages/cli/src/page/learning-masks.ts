import { setImmediate as pause } from "node:timers/promises";
import { SessionMasker } from "@bough/formats/secrets";
import type { Session } from "@bough/session-core";
import { SerialQueue } from "@bough/session-core/engine";

/** Entries that are searched for secrets without a pause for requests. */
const SLICE = 50;

/** Sessions of up to this size are searched before they are shown: half a second at most. */
const AT_ONCE_BYTES = 4 * 1024 * 1024;

/**
 * The secrets of a session that a server shows. A session of up to 4 MB is read whole before anything of it is shown. A longer one is read
 * in the background: what is shown meanwhile is masked by the rules, and later also where only another place says that it is a secret.
 */
export class LearningMasks {
  readonly masker = new SessionMasker();
  readonly #session: Session;
  readonly #reads = new SerialQueue();
  readonly #onLearned: () => void;
  #seq = 0;
  #isBehind = true;
  #isStarted = false;

  /** `onLearned` is called when the background has found a secret that may have been shown before. It must not throw. */
  constructor(session: Session, onLearned: () => void) {
    this.#session = session;
    this.#onLearned = onLearned;
  }

  /** True while a part of the session has not been searched. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Searches what has arrived. Of a long session that was not searched yet, nothing: see `learnLater`. */
  async learn(payloadBytes: number): Promise<void> {
    if (!this.#isBehind || payloadBytes <= AT_ONCE_BYTES) await this.#reads.run(() => this.#learn());
  }

  /** Searches a long session in the background, after its first page was sent. */
  learnLater(): void {
    if (!this.#isBehind || this.#isStarted) return;
    this.#isStarted = true;
    // A session that cannot be read is reported by the next request, which starts this again.
    this.#reads
      .run(() => this.#learn())
      .catch(() => {
        this.#isStarted = false;
      });
  }

  async #learn(): Promise<void> {
    const before = this.masker.learned;
    const isFirst = this.#seq === 0;
    for (;;) {
      const entries = await this.#session.entriesSince(this.#seq, SLICE);
      for (const entry of entries) this.masker.learn(entry);
      this.#seq = entries.at(-1)?.seq ?? this.#seq;
      if (entries.length < SLICE) break;
      await pause();
    }
    this.#isBehind = false;
    if (isFirst || this.masker.learned > before) this.#onLearned();
  }
}
