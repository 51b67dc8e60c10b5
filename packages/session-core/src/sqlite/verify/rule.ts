import type { RawBuilder } from "kysely";
import type { Violation } from "../../port/session-storage.js";

/** A row that breaks a rule. */
export interface BrokenRow {
  readonly session_id: string | null;
  readonly entry_id: string | null;
  readonly detail: string | number | null;
}

/** An integrity rule, as a query for the rows that break it. */
export interface Rule {
  readonly rule: Violation["rule"];
  /** Describes a violation; completes the sentence "Entry X of session Y: …". */
  readonly describe: (row: BrokenRow) => string;
  /** The first format version that has the data of the rule. Default 1. */
  readonly since?: number;
  /** Selects the rows that break the rule, as session_id, entry_id and detail. `within` restricts it to one session. */
  readonly broken: (within: RawBuilder<unknown>) => RawBuilder<BrokenRow>;
}
