import type { Compactor } from "@bough/compaction";
import type { Session, Store } from "@bough/session-core";
import type { Io } from "../terminal/io.js";
import type { ScreenHost } from "../tui/screen.js";
import type { NavigatorNews } from "./model.js";

/** What the navigator works with. */
export interface NavigatorWorld {
  readonly store: Store;
  readonly session: Session;
  readonly compactor: Compactor;
  readonly io: Io;
  /** Keeps the answer to the question about leaving for the next time. */
  readonly rememberChoice: (choice: number) => Promise<void>;
}

/** Tells the navigator's screen something. */
export type Tell = ScreenHost<NavigatorNews>["tell"];
