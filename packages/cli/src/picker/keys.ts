import type { KeyTable } from "../tui/key-table.js";

/** What a key can mean in the list of the picker. */
export type PickerAction =
  | "up"
  | "down"
  | "pageUp"
  | "pageDown"
  | "first"
  | "last"
  | "open"
  | "new"
  | "cancel"
  | "search"
  | "scope"
  | "sort"
  | "archived"
  | "preview"
  | "previewEnd"
  | "rename"
  | "archive"
  | "delete"
  | "help";

/** The keys of the picker. Letters act in the list and type in the search field. */
export const PICKER_KEYS: KeyTable<PickerAction> = [
  { action: "up", keys: ["up", "k"], help: "one session up", group: "Move" },
  { action: "down", keys: ["down", "j"], help: "one session down", group: "Move" },
  { action: "pageUp", keys: ["pageup"], help: "one page up", group: "Move" },
  { action: "pageDown", keys: ["pagedown"], help: "one page down", group: "Move" },
  { action: "first", keys: ["home", "g"], help: "first session", group: "Move" },
  { action: "last", keys: ["end", "G"], help: "last session", group: "Move" },
  { action: "open", keys: ["enter"], help: "open the session", group: "Choose" },
  { action: "new", keys: ["n"], help: "begin a new session", group: "Choose" },
  { action: "cancel", keys: ["escape", "q", "ctrl+c"], help: "clear the search, then leave", group: "Choose" },
  { action: "search", keys: ["/"], help: "search titles and texts", group: "Show" },
  { action: "scope", keys: ["tab"], help: "this directory, or all", group: "Show" },
  { action: "sort", keys: ["s"], help: "threads, newest first, by name", group: "Show" },
  { action: "archived", keys: ["A"], help: "archived sessions too, or not", group: "Show" },
  { action: "preview", keys: ["v", "space"], help: "show what was said", group: "Show" },
  { action: "previewEnd", keys: ["e"], help: "last messages, or the first", group: "Show" },
  { action: "rename", keys: ["r"], help: "give it a title", group: "Change" },
  { action: "archive", keys: ["a"], help: "archive it, or take it back", group: "Change" },
  { action: "delete", keys: ["d", "delete"], help: "delete it, after a question", group: "Change" },
  { action: "help", keys: ["?"], help: "these keys", group: "Help" },
];
