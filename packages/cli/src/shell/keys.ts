import type { KeyTable } from "../tui/key-table.js";

/** Default keys of the prompt, besides editing. */
export const SHELL_KEYS = [
  { action: "send", keys: ["enter"], group: "Prompt", help: "send; Alt-Enter, Ctrl-J or a \\ at the end insert a new line" },
  { action: "complete", keys: ["tab"], group: "Prompt", help: "accept the completion" },
  { action: "older", keys: ["up"], group: "Prompt", help: "previous prompt, from the first line" },
  { action: "newer", keys: ["down"], group: "Prompt", help: "next prompt, then the draft" },
  {
    action: "stop",
    keys: ["escape"],
    group: "Prompt",
    help: "stop the reply and keep the text so far; twice on an empty prompt: the tree",
  },
  { action: "tree", keys: ["ctrl+t"], group: "Go", help: "the tree" },
  { action: "sessions", keys: ["ctrl+r"], group: "Go", help: "the sessions" },
  { action: "clear", keys: ["ctrl+c"], group: "Go", help: "clear the prompt; twice: quit" },
  { action: "leave", keys: ["ctrl+d"], group: "Go", help: "quit, if the prompt is empty" },
] as const satisfies KeyTable<string>;

/** Actions of keys at the prompt, besides editing. */
export type ShellAction = (typeof SHELL_KEYS)[number]["action"];
