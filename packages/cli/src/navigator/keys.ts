import type { KeyTable } from "../tui/key-table.js";

/** What a key can mean in the list of the navigator. */
export type NavigatorAction =
  | "up"
  | "down"
  | "pageUp"
  | "pageDown"
  | "first"
  | "last"
  | "leaf"
  | "foldOrBack"
  | "unfoldOrForth"
  | "fold"
  | "next"
  | "previous"
  | "nextBranch"
  | "previousBranch"
  | "go"
  | "goWithSummary"
  | "search"
  | "filterDefault"
  | "filterNoTools"
  | "filterUser"
  | "filterLabeled"
  | "filterSummaries"
  | "filterAll"
  | "cycleFilter"
  | "cycleFilterBack"
  | "preview"
  | "previewUp"
  | "previewDown"
  | "times"
  | "label"
  | "copy"
  | "mark"
  | "compare"
  | "export"
  | "fork"
  | "compact"
  | "undo"
  | "redo"
  | "help"
  | "close";

/** The keys of the navigator's list. Those that pi's tree has too are the same here. */
export const NAVIGATOR_KEYS: KeyTable<NavigatorAction> = [
  { action: "up", keys: ["up", "k"], group: "Move", help: "one row up; at the top: to the end" },
  { action: "down", keys: ["down", "j"], group: "Move", help: "one row down; at the end: to the top" },
  { action: "pageUp", keys: ["pageup", "left"], group: "Move", help: "a page up" },
  { action: "pageDown", keys: ["pagedown", "right"], group: "Move", help: "a page down" },
  { action: "first", keys: ["g", "home"], group: "Move", help: "to the first row" },
  { action: "last", keys: ["G", "end"], group: "Move", help: "to the last row" },
  { action: "leaf", keys: ["."], group: "Move", help: "to where the session stands" },
  { action: "next", keys: ["n"], group: "Move", help: "to the next hit of the search; without one, the next branch point" },
  { action: "previous", keys: ["p", "N"], group: "Move", help: "to the hit or branch point before" },
  { action: "nextBranch", keys: ["]"], group: "Move", help: "to the next branch point" },
  { action: "previousBranch", keys: ["["], group: "Move", help: "to the branch point before" },
  {
    action: "foldOrBack",
    keys: ["ctrl+left", "alt+left"],
    group: "Fold",
    help: "fold this stretch; where it is folded: to the one before",
  },
  { action: "unfoldOrForth", keys: ["ctrl+right", "alt+right"], group: "Fold", help: "unfold this stretch; else to the next one" },
  { action: "fold", keys: ["space"], group: "Fold", help: "fold or unfold what hangs below" },
  { action: "search", keys: ["/"], group: "Show", help: "search the texts of all entries" },
  { action: "filterDefault", keys: ["ctrl+d"], group: "Show", help: "the usual rows" },
  { action: "filterNoTools", keys: ["ctrl+t"], group: "Show", help: "no tools, or the usual rows again" },
  { action: "filterUser", keys: ["ctrl+u"], group: "Show", help: "only what the user said" },
  { action: "filterLabeled", keys: ["ctrl+l"], group: "Show", help: "only what has a label" },
  { action: "filterSummaries", keys: ["ctrl+s"], group: "Show", help: "only summaries" },
  { action: "filterAll", keys: ["ctrl+a"], group: "Show", help: "everything" },
  { action: "cycleFilter", keys: ["ctrl+o"], group: "Show", help: "the next of these filters" },
  { action: "cycleFilterBack", keys: ["ctrl+shift+o", "O"], group: "Show", help: "the filter before" },
  { action: "preview", keys: ["v", "tab"], group: "Show", help: "the entry in full beside the tree, or not" },
  { action: "previewUp", keys: ["K", "shift+up", "ctrl+up"], group: "Show", help: "scroll the entry up" },
  { action: "previewDown", keys: ["J", "shift+down", "ctrl+down"], group: "Show", help: "scroll the entry down" },
  { action: "times", keys: ["T"], group: "Show", help: "date and time in place of the age" },
  { action: "go", keys: ["enter"], group: "Do", help: "go there; a message of the user comes back to be edited" },
  { action: "goWithSummary", keys: ["s", "shift+enter"], group: "Do", help: "go there and leave a summary of the branch that is left" },
  { action: "undo", keys: ["u"], group: "Do", help: "take the last move back" },
  { action: "redo", keys: ["r"], group: "Do", help: "take that back" },
  { action: "label", keys: ["l", "L"], group: "Do", help: "label this entry, or change its label; empty takes it away" },
  { action: "mark", keys: ["m"], group: "Do", help: "mark this entry (two at most)" },
  { action: "compare", keys: ["d"], group: "Do", help: "what differs between the branches of two marked entries" },
  { action: "fork", keys: ["f"], group: "Do", help: "a new session with the path to here" },
  { action: "export", keys: ["x"], group: "Do", help: "write the path to here as Markdown" },
  { action: "compact", keys: ["c"], group: "Do", help: "summarise everything before this entry" },
  { action: "copy", keys: ["y", "ctrl+x"], group: "Do", help: "copy this entry's text" },
  { action: "help", keys: ["?"], group: "Leave", help: "this help" },
  { action: "close", keys: ["escape", "q", "ctrl+c"], group: "Leave", help: "end the search, or close" },
];
