// Types of the public interface of the package. This file does not import better-sqlite3: its types are a separate package, which
// users of our declarations do not have.

/** Reports how many of all entries have been copied. */
export type OnProgress = (done: number, total: number) => void;

/** `full`: acknowledged writes survive a power loss. `normal`: after a power loss the most recent transactions may be missing; the file stays consistent. */
export type Durability = "full" | "normal";

/** Options for opening a store file. */
export interface ConnectionOptions {
  readonly path: string;
  /** `create` creates a missing file and its folder; the others throw `StoreNotFoundError`. */
  readonly mode: "create" | "read-write" | "read-only";
  readonly durability: Durability;
  /** The time that a write waits for the lock of another process, in milliseconds. */
  readonly busyTimeoutMs: number;
  /** Maximum size of the file in bytes; a larger write throws `StoreFullError`. */
  readonly maxBytes?: number | undefined;
  /** Called while a store of an older version is upgraded, with the number of copied entries and of all entries. */
  readonly onUpgrade?: OnProgress | undefined;
}
