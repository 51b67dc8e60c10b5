import { isObject, type JsonObject } from "@bough/session-core/wire";

/** The names of the tools of calls without a result, by the ids of the calls. */
export class CallNames {
  readonly #names: Map<string, string>;
  /** The names that were taken since the last snapshot. */
  #taken = new Map<string, string>();

  /** `state`: that of a snapshot; anything else is none. */
  constructor(state: unknown) {
    this.#names = new Map(isObject(state) ? Object.entries(state).map(([id, name]) => [id, String(name)]) : []);
  }

  add(callId: string, name: string): void {
    this.#names.set(callId, name);
  }

  /** The tool of a call, which gets its result now. */
  take(callId: string): string | undefined {
    const name = this.#names.get(callId);
    if (name !== undefined) this.#taken.set(callId, name);
    this.#names.delete(callId);
    return name;
  }

  /**
   * Returns a function that builds the state of this moment, valid until the next snapshot; undefined: there are no names. A snapshot
   * copies nothing, because few of them are built. The state also has the names of calls added later; a reading from there adds them again.
   */
  snapshot(): () => JsonObject | undefined {
    const taken = new Map<string, string>();
    this.#taken = taken;
    return () => {
      const names = Object.fromEntries([...taken, ...this.#names]);
      return Object.keys(names).length === 0 ? undefined : names;
    };
  }
}
