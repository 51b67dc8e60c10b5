import type { Session, SessionId } from "@bough/session-core";
import { checkArgument, TEXT, withMethods } from "@bough/session-core/arguments";
import { SessionMasker } from "./session-masker.js";

const SESSION = withMethods("a session", "entriesSince");

/** The secrets of a session that were learned so far. */
interface Learned {
  readonly masker: SessionMasker;
  /** `seq` of the last entry that was learned. */
  seq: number;
  /** The last reading of the session; the next one starts after it. */
  reading: Promise<void>;
}

/** Sessions whose secrets are remembered at once. */
const MAX_SESSIONS = 64;

/**
 * Masks for several sessions, such as those of a list or of a server that runs for days. Each session is read once; later only the
 * entries that have arrived since are read. At most 64 sessions are remembered.
 *
 * @example
 * const masks = new SessionMasks();
 * const masker = await masks.of(session);
 * masker.maskEntry(await session.entry(session.leafId));
 */
export class SessionMasks {
  /** In the order of their last use. */
  readonly #learned = new Map<SessionId, Learned>();

  /** Returns the masker of a session, which has learned every secret in it. Cost: reads the entries that were not read before. */
  async of(session: Session): Promise<SessionMasker> {
    checkArgument("session", session, SESSION);
    const known = this.#learned.get(session.id) ?? { masker: new SessionMasker(), seq: 0, reading: Promise.resolve() };
    this.#learned.delete(session.id);
    this.#learned.set(session.id, known);
    const [oldest] = this.#learned.keys();
    if (this.#learned.size > MAX_SESSIONS && oldest !== undefined) this.#learned.delete(oldest);
    known.reading = known.reading.catch(() => undefined).then(() => learnMore(session, known));
    await known.reading;
    return known.masker;
  }

  /**
   * The title of a session without its secrets. The session is opened and read only if a word of the title can be a secret: a list of
   * sessions need not read all of them.
   */
  async maskTitle(title: string, open: () => Promise<Session>): Promise<string> {
    checkArgument("title", title, TEXT);
    return CAN_BE_SECRET.test(title) ? (await this.of(await open())).maskLine(title) : title;
  }
}

/** A name of secrets, a word with letters and digits, also with symbols between, an address, or the start of a key. */
const CAN_BE_SECRET = /pass|pwd|key|secret|token|auth|cookie|login|credential|:\/\/|-----|(?=\S{0,64}\d)(?=\S{0,64}[a-z])\S{6}/i;

async function learnMore(session: Session, known: Learned): Promise<void> {
  for (;;) {
    const entries = await session.entriesSince(known.seq);
    for (const entry of entries) known.masker.learn(entry);
    known.seq = entries.at(-1)?.seq ?? known.seq;
    if (entries.length === 0) return;
  }
}
