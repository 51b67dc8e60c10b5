import type { KeyTable } from "../tui/key-table.js";

/** What a key can mean at the prompt besides editing. */
export type ShellAction = "send" | "complete" | "stop" | "older" | "newer" | "tree" | "sessions" | "clear" | "leave";

/** The keys of the prompt that are not about text. */
export const SHELL_KEYS: KeyTable<ShellAction> = [
  { action: "send", keys: ["enter"], group: "Prompt", help: "send; Alt-Enter, Ctrl-J or a \\ at the end make a new line" },
  { action: "complete", keys: ["tab"], group: "Prompt", help: "take the command that is offered" },
  { action: "older", keys: ["up"], group: "Prompt", help: "what was sent before, from the first line" },
  { action: "newer", keys: ["down"], group: "Prompt", help: "and back to what was being typed" },
  { action: "stop", keys: ["escape"], group: "Prompt", help: "stop the reply and keep what came; twice on an empty prompt: the tree" },
  { action: "tree", keys: ["ctrl+t"], group: "Go", help: "the tree" },
  { action: "sessions", keys: ["ctrl+r"], group: "Go", help: "the sessions" },
  { action: "clear", keys: ["ctrl+c"], group: "Go", help: "clear the prompt; twice: leave" },
  { action: "leave", keys: ["ctrl+d"], group: "Go", help: "leave, from an empty prompt" },
];
