import { raceAbort } from "@bough/session-core/engine";

/** Time without a change after which a batch is returned, and maximum time that a change waits, in milliseconds. */
const QUIET_MS = 200;
const LONGEST_MS = 2000;

/** With more paths than this, everything is synced: the check of an unchanged file is cheaper than a long list. */
const MANY_PATHS = 1000;

/** The scope of the next sync: these paths, or everything. */
export type Due = { readonly kind: "paths"; readonly paths: readonly string[] } | { readonly kind: "all" };

/** Collects paths that changed, and returns them in batches, so that a file that is being written is not read at each write. */
export class ChangedPaths {
  readonly #paths = new Set<string>();
  #isAll = false;
  #firstAtMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #give: (() => void) | undefined;

  /** Adds a path. A file beside a database (`-wal`) counts as the database. */
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
