import type { KeyTable } from "../tui/key-table.js";

/** Default keys of the finder. All other keys edit the query. */
export const FINDER_KEYS = [
  { action: "up", keys: ["up", "ctrl+p"], group: "Move", help: "previous hit" },
  { action: "down", keys: ["down", "ctrl+n"], group: "Move", help: "next hit" },
  { action: "pageUp", keys: ["pageup"], group: "Move", help: "one page up" },
  { action: "pageDown", keys: ["pagedown"], group: "Move", help: "one page down" },
  { action: "sessionUp", keys: ["alt+up", "alt+p"], group: "Move", help: "best hit of the session before" },
  { action: "sessionDown", keys: ["alt+down", "alt+n"], group: "Move", help: "best hit of the next session" },
  { action: "next", keys: ["tab"], group: "Move", help: "next match in the preview, then the next hit" },
  { action: "previous", keys: ["shift+tab"], group: "Move", help: "previous match in the preview, then the previous hit" },
  { action: "previewUp", keys: ["shift+up", "ctrl+up"], group: "Move", help: "scroll the preview up" },
  { action: "previewDown", keys: ["shift+down", "ctrl+down"], group: "Move", help: "scroll the preview down" },
  { action: "session", keys: ["ctrl+s"], group: "Narrow", help: "only the session of this hit, or all sessions again" },
  { action: "role", keys: ["ctrl+r"], group: "Narrow", help: "hits of the user, of the model, of tools, summaries, or all" },
  { action: "open", keys: ["enter"], group: "Do", help: "open the tree of the session at this hit; Esc there returns here" },
  { action: "help", keys: ["f1", "ctrl+g"], group: "Do", help: "this help" },
  { action: "close", keys: ["escape", "ctrl+c"], group: "Do", help: "close" },
] as const satisfies KeyTable<string>;

/** Actions of the finder. Their names are keys of the setting `keys.finder`. */
export type FinderAction = (typeof FINDER_KEYS)[number]["action"];
