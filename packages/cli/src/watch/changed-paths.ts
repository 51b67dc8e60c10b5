import { raceAbort } from "@bough/session-core/engine";

/** How long no change must come before the collected ones are given out, and how long they wait at most, in milliseconds. */
const QUIET_MS = 200;
const LONGEST_MS = 2000;

/** From so many paths on, everything is looked at: a look at an unchanged file is cheaper than a long list. */
const MANY_PATHS = 1000;

/** What next has to be looked at: these paths, or everything. */
export type Due = { readonly kind: "paths"; readonly paths: readonly string[] } | { readonly kind: "all" };

/** Collects paths that changed, and gives them out in batches, so that a file that is being written is not read at each write. */
export class ChangedPaths {
  readonly #paths = new Set<string>();
  #isAll = false;
  #firstAtMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #give: (() => void) | undefined;

  /** Adds a path; a file beside a database (`-wal`) stands for the database. */
  add(path: string): void {
    if (this.#paths.size === 0) this.#firstAtMs = performance.now();
    this.#paths.add(path.replace(/-(?:wal|shm|journal)$/, ""));
    if (this.#paths.size > MANY_PATHS) this.#isAll = true;
    this.#giveSoon();
  }

  /**
   * Resolves to the next batch, or to everything when nothing came for `idleMs`.
   *
   * @throws the reason of `signal`.
   */
  async next(idleMs: number, signal: AbortSignal): Promise<Due> {
    const idle = setTimeout(() => {
      this.#isAll = true;
      this.#give?.();
    }, idleMs);
    try {
      const given = new Promise<void>((resolve) => {
        this.#give = resolve;
      });
      if (this.#paths.size > 0) this.#giveSoon();
      await raceAbort(given, signal);
      return this.#take();
    } finally {
      this.#give = undefined;
      clearTimeout(idle);
      clearTimeout(this.#timer);
    }
  }

  #giveSoon(): void {
    clearTimeout(this.#timer);
    if (this.#give === undefined) return;
    const leftMs = Math.max(this.#firstAtMs + LONGEST_MS - performance.now(), 0);
    this.#timer = setTimeout(this.#give, Math.min(QUIET_MS, leftMs));
  }

  #take(): Due {
    const due: Due = this.#isAll ? { kind: "all" } : { kind: "paths", paths: [...this.#paths] };
    this.#paths.clear();
    this.#isAll = false;
    return due;
  }
}
