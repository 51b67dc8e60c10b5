import { initial } from "./0001-initial.js";
import { entryTokenCount } from "./0002-entry-token-count.js";
import { ancestorsAndActivity } from "./0003-ancestors-and-activity.js";
import type { Migration } from "./migration.js";

/** Every step in order; a file's `user_version` says how many of them it has taken. */
export const MIGRATIONS: readonly Migration[] = [initial, entryTokenCount, ancestorsAndActivity];
