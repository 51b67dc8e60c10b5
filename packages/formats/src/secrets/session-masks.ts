import type { Entry, Session, SessionId } from "@bough/session-core";
import { checkArgument, TEXT, withMethods } from "@bough/session-core/arguments";
import { findSecretsInLine } from "./find-secrets.js";
import { canShareSecretsWith, SessionMasker } from "./session-masker.js";

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
   * Returns a masker that masks some entries of a session as that of `of` does, apart from the numbers of the masks. Cost: reads the session, but
   * looks for secrets only in texts that can share one with these entries: for a process that shows a few entries of a large session.
   */
  async forEntries(session: Session, entries: readonly Entry[]): Promise<SessionMasker> {
    checkArgument("session", session, SESSION);
    if (this.#learned.has(session.id)) return this.of(session);
    const masker = new SessionMasker();
    const canMatter = canShareSecretsWith(entries);
    await readAfter(session, 0, (entry) => masker.learn(entry, canMatter));
    return masker;
  }

  /**
   * The title of a session without its secrets. The session is opened and read only if a word of the title can be a secret: a list of
   * sessions need not read all of them.
   */
  async maskTitle(title: string, open: () => Promise<Session>): Promise<string> {
    checkArgument("title", title, TEXT);
    return canHaveSecret(title) ? (await this.of(await open())).maskLine(title) : title;
  }
}

/** A name of secrets, a word with letters and digits, also with symbols between, an address, or the start of a key. */
const CAN_BE_SECRET = /pass|pwd|key|secret|token|auth|cookie|login|credential|:\/\/|-----|(?=\S{0,64}\d)(?=\S{0,64}[a-z])\S{6}/i;

/** True if a word of a text can be a secret, or the text names one or puts one where a program takes it. @see SessionMasks.maskTitle */
export function canHaveSecret(text: string): boolean {
  checkArgument("text", text, TEXT);
  return CAN_BE_SECRET.test(text) || findSecretsInLine(text).length > 0;
}

function learnMore(session: Session, known: Learned): Promise<void> {
  return readAfter(session, known.seq, (entry) => {
    known.masker.learn(entry);
    known.seq = entry.seq;
  });
}

/** Visits the entries after one, by order of arrival. */
async function readAfter(session: Session, seq: number, visit: (entry: Entry) => void): Promise<void> {
  for (let after = seq; ; ) {
    const entries = await session.entriesSince(after);
    for (const entry of entries) visit(entry);
    const last = entries.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}
