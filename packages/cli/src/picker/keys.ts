import type { KeyTable } from "../tui/key-table.js";

/** Default keys. In the list letters trigger actions; in the search field they are typed. */
export const PICKER_KEYS = [
  { action: "up", keys: ["up", "k"], help: "one session up", group: "Move" },
  { action: "down", keys: ["down", "j"], help: "one session down", group: "Move" },
  { action: "pageUp", keys: ["pageup"], help: "one page up", group: "Move" },
  { action: "pageDown", keys: ["pagedown"], help: "one page down", group: "Move" },
  { action: "first", keys: ["home", "g"], help: "first session", group: "Move" },
  { action: "last", keys: ["end", "G"], help: "last session", group: "Move" },
  { action: "open", keys: ["enter"], help: "open the session", group: "Choose" },
  { action: "new", keys: ["n"], help: "start a new session", group: "Choose" },
  { action: "cancel", keys: ["escape", "q", "ctrl+c"], help: "clear the search, then leave", group: "Choose" },
  { action: "search", keys: ["/"], help: "search titles and messages", group: "Show" },
  { action: "scope", keys: ["tab"], help: "this directory, or all directories", group: "Show" },
  { action: "sort", keys: ["s"], help: "threads, newest first, by name", group: "Show" },
  { action: "archived", keys: ["A"], help: "show or hide archived sessions", group: "Show" },
  { action: "preview", keys: ["v", "space"], help: "show the messages", group: "Show" },
  { action: "previewEnd", keys: ["e"], help: "last messages or first messages", group: "Show" },
  { action: "rename", keys: ["r"], help: "rename the session", group: "Change" },
  { action: "archive", keys: ["a"], help: "archive or unarchive it", group: "Change" },
  { action: "delete", keys: ["d", "delete"], help: "delete it (asks first)", group: "Change" },
  { action: "help", keys: ["?"], help: "this help", group: "Help" },
] as const satisfies KeyTable<string>;

/** Actions of the picker. */
export type PickerAction = (typeof PICKER_KEYS)[number]["action"];
