/**
 * The features in which storage engines differ. All else of the port is the same on every engine: the tests of the contract run on each
 * of them, and skip only the features that it lacks.
 */
export interface Abilities {
  /** Who can use a store at once: this process, processes of this machine, or processes of many machines. */
  readonly sharedBy: "process" | "machine" | "network";
  /** `backup` writes a copy of the store into a file. Without it, it throws `UnsupportedOperationError`: the server makes backups. */
  readonly backup: boolean;
  /** Payloads can be packed later, by `packing`. Without it they are stored in one form: there is nothing to pack or to shrink. */
  readonly packing: boolean;
  /** Entries are indexed for the search after they are written, by `catchUpSearch`. Without it the write indexes them. */
  readonly indexesLater: boolean;
  /** Entries are numbered in order of arrival in the whole store, or in their session. */
  readonly numbers: "store" | "session";
}
