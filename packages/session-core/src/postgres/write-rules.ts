import type { ValidatedEntry } from "../entry/validate.js";
import type { Write } from "../port/writes.js";
import type { FileTools } from "../tools/known-tools.js";

/** What a write needs besides the database. */
export interface WriteRules {
  readonly validateEntry: (given: unknown) => ValidatedEntry;
  /** The host's tools that touch files. */
  readonly fileTools: FileTools;
}

/** The first writes of a new session, at its leaf `main`; undefined: none. */
export type FirstWrites = { readonly writes: readonly Write[]; readonly rules: WriteRules } | undefined;
