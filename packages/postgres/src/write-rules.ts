import type { FileTools, Write } from "@bough/session-core";
import type { ValidatedEntry } from "@bough/session-core/engine";

/** The dependencies of a write besides the database. */
export interface WriteRules {
  readonly validateEntry: (given: unknown) => ValidatedEntry;
  /** The host's tools that touch files. */
  readonly fileTools: FileTools;
}

/** The first writes of a new session, at its leaf `main`; undefined: none. */
export type FirstWrites = { readonly writes: readonly Write[]; readonly rules: WriteRules } | undefined;
