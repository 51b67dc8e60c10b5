/** True if a text is the url of a store on a server, and not the path of a file. */
export function isServerUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//i.test(text);
}

/** The words by which libpq names a server without a url: `host=db user=ada password=…`. */
const WORD = /(?:^|[\s"'`;&?])(?:host|hostaddr|port|dbname|user|passfile|service|sslmode)\s*=/gi;

/**
 * True if a text was meant as the address of a server but is no url of one: in quotation marks, after a blank, with the prefix of another
 * driver, or as words of libpq. It can contain a password, so callers must not show it or use it as the name of a file.
 */
export function isLikeServerAddress(text: string): boolean {
  if (isServerUrl(text)) return false;
  // A scheme has two letters or more: one letter is the drive of a Windows path.
  return (
    /^[\s"'`]*(?:[a-z][\w+.-]+:)*[a-z][\w+.-]+:\/\//i.test(text) ||
    /^[\s"'`]*(?:\w+:)*postgres[\w+]*:/i.test(text) ||
    /postgres[\w+]*:\/\//i.test(text) ||
    /(?:^|[\s"'`;&?])(?:password|pwd)\s*=/i.test(text) ||
    [...text.matchAll(WORD)].length >= 2 ||
    /^[\s"'`]*(?:postgres(?:ql)?)?\/\/[^\s/@]*:[^\s@]+@/i.test(text) ||
    /^[\s"'`]*[^\s:@/\\]{2,}:[^\s@]*@[\w.[\]-]+(?::\d+)?(?:[/?"'`\s]|$)/.test(text)
  );
}

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
  /** The key of a locked store; a new store is locked with it. */
  readonly key?: string | undefined;
  /** Called while a store of an older version is upgraded, with the number of copied entries and of all entries. */
  readonly onUpgrade?: OnProgress | undefined;
}
