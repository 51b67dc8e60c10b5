/** `full`: what a write acknowledged survives a power cut. `normal`: a power cut may take the newest writes, never the order of things. */
export type Durability = "full" | "normal";

/** How to open a store file. */
export interface ConnectionOptions {
  readonly path: string;
  /** `create` makes the file and its folder where they are missing; the others refuse a missing file. */
  readonly mode: "create" | "read-write" | "read-only";
  readonly durability: Durability;
  /** How long a write waits for another process's lock, in milliseconds. */
  readonly busyTimeoutMs: number;
  /** Largest size of the file in bytes; a write beyond it fails like a full disk. */
  readonly maxBytes?: number | undefined;
}
