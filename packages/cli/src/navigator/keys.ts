import type { KeyTable } from "../tui/key-table.js";

/** The actions of the list. Their names are keys of the setting `keys.navigator`. */
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
  | "nextSibling"
  | "previousSibling"
  | "nextTurn"
  | "previousTurn"
  | "go"
  | "goWithSummary"
  | "search"
  | "ancestors"
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
  | "copyBranch"
  | "mark"
  | "compare"
  | "export"
  | "fork"
  | "visit"
  | "back"
  | "compact"
  | "undo"
  | "redo"
  | "help"
  | "close";

/** The keys of the navigator's list. pi users find the keys of its tree unchanged. */
export const NAVIGATOR_KEYS: KeyTable<NavigatorAction> = [
  { action: "up", keys: ["up", "k"], group: "Move", help: "previous row, wrapping around" },
  { action: "down", keys: ["down", "j"], group: "Move", help: "next row, wrapping around" },
  { action: "pageUp", keys: ["pageup", "left"], group: "Move", help: "one page up" },
  { action: "pageDown", keys: ["pagedown", "right"], group: "Move", help: "one page down" },
  { action: "first", keys: ["g", "home"], group: "Move", help: "first row" },
  { action: "last", keys: ["G", "end"], group: "Move", help: "last row" },
  { action: "leaf", keys: ["."], group: "Move", help: "current position of the session" },
  { action: "next", keys: ["n"], group: "Move", help: "next match, then the next hit; without a search the next branch point" },
  { action: "previous", keys: ["p", "N"], group: "Move", help: "previous match, hit or branch point" },
  { action: "nextBranch", keys: ["]"], group: "Move", help: "next branch point" },
  { action: "previousBranch", keys: ["["], group: "Move", help: "previous branch point" },
  { action: "nextSibling", keys: ["}"], group: "Move", help: "next branch of the same branch point, around the ends" },
  { action: "previousSibling", keys: ["{"], group: "Move", help: "previous branch of the same branch point" },
  { action: "nextTurn", keys: ["alt+down"], group: "Move", help: "next user message" },
  { action: "previousTurn", keys: ["alt+up"], group: "Move", help: "previous user message" },
  { action: "foldOrBack", keys: ["ctrl+left", "alt+left"], group: "Fold", help: "fold this segment; if folded, go to the previous one" },
  {
    action: "unfoldOrForth",
    keys: ["ctrl+right", "alt+right"],
    group: "Fold",
    help: "unfold this row; if unfolded, go to the next segment",
  },
  { action: "fold", keys: ["space"], group: "Fold", help: "fold or unfold the rows below" },
  { action: "search", keys: ["/"], group: "Show", help: "search the text of all entries" },
  { action: "ancestors", keys: ["a"], group: "Show", help: "in a search: the ancestors of hits too, or the hits only" },
  { action: "filterDefault", keys: ["ctrl+d"], group: "Show", help: "default filter: the conversation" },
  { action: "filterNoTools", keys: ["ctrl+t"], group: "Show", help: "without tool calls; again: default" },
  { action: "filterUser", keys: ["ctrl+u"], group: "Show", help: "only user messages" },
  { action: "filterLabeled", keys: ["ctrl+l"], group: "Show", help: "only labeled entries" },
  { action: "filterSummaries", keys: ["ctrl+s"], group: "Show", help: "only summaries" },
  { action: "filterAll", keys: ["ctrl+a"], group: "Show", help: "all entries" },
  { action: "cycleFilter", keys: ["ctrl+o"], group: "Show", help: "next filter" },
  { action: "cycleFilterBack", keys: ["ctrl+shift+o", "O"], group: "Show", help: "previous filter" },
  { action: "preview", keys: ["v", "tab"], group: "Show", help: "show or hide the preview of the selected entry" },
  { action: "previewUp", keys: ["K", "shift+up", "ctrl+up"], group: "Show", help: "scroll the preview up" },
  { action: "previewDown", keys: ["J", "shift+down", "ctrl+down"], group: "Show", help: "scroll the preview down" },
  { action: "times", keys: ["T"], group: "Show", help: "dates instead of ages, or ages again" },
  { action: "go", keys: ["enter"], group: "Do", help: "go to this entry; a user message returns to the prompt" },
  { action: "goWithSummary", keys: ["s", "shift+enter"], group: "Do", help: "go to this entry, with a summary of the branch you leave" },
  { action: "undo", keys: ["u"], group: "Do", help: "undo the last move" },
  { action: "redo", keys: ["r"], group: "Do", help: "redo the move" },
  { action: "label", keys: ["l", "L"], group: "Do", help: "set the label of this entry; empty removes it" },
  { action: "mark", keys: ["m"], group: "Do", help: "mark this entry (at most two)" },
  {
    action: "compare",
    keys: ["d"],
    group: "Do",
    help: "compare two marked entries; the first entry of a branch means the whole branch",
  },
  { action: "fork", keys: ["f"], group: "Do", help: "new session with the path to this entry (asks first)" },
  { action: "export", keys: ["x"], group: "Do", help: "export the path to this entry as Markdown (asks for the file)" },
  { action: "compact", keys: ["c"], group: "Do", help: "summarize the entries before this one" },
  { action: "copy", keys: ["y", "ctrl+x"], group: "Do", help: "copy the text of this entry" },
  { action: "copyBranch", keys: ["Y"], group: "Do", help: "copy the branch to this entry as a prompt for any agent" },
  { action: "visit", keys: ["o"], group: "Do", help: "open the session of the subagent that this entry started" },
  { action: "back", keys: ["backspace"], group: "Do", help: "back from it; also from a fork to its origin" },
  { action: "help", keys: ["?"], group: "Leave", help: "this help" },
  { action: "close", keys: ["escape", "q", "ctrl+c"], group: "Leave", help: "end the search, or close" },
];
