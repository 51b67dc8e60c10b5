import { editorOf } from "../prompt/editor.js";
import { still } from "../tui/screen.js";
import type { ShellModel, ShellStep } from "./model.js";
import { SLASH_COMMANDS, type SlashName, typed } from "./slash-commands.js";

/** Prompts that are kept for the arrows. */
const MOST_HISTORY = 500;

/** What is typed goes out: as a message, as a command, or behind the reply that is being written. */
export function sent(model: ShellModel): ShellStep {
  const { text } = model.editor;
  if (text.trim() === "") return still(model);
  const line = typed(text);
  if (line.kind === "unknown") {
    const meant = line.nearest === null ? "/help lists the commands" : `did you mean /${line.nearest}?`;
    return still({ ...model, notice: { text: `No command /${line.name}: ${meant} A message may begin with //.`, isError: true } });
  }
  const emptied: ShellModel = { ...model, editor: editorOf(), completions: [], notice: null, history: remembered(model.history, text) };
  return line.kind === "command" ? commanded(emptied, model, line.name, line.rest) : said(emptied, line.text);
}

function remembered(history: readonly string[], text: string): readonly string[] {
  return history.at(-1) === text ? history : [...history, text].slice(-MOST_HISTORY);
}

function said(model: ShellModel, text: string): ShellStep {
  if (isBusy(model)) return still({ ...model, queue: [...model.queue, text] });
  return { model, effects: [{ kind: "say", text }] };
}

/** Most commands change what a reply stands on; they wait for its end, and the typed line stays. */
function commanded(emptied: ShellModel, before: ShellModel, name: SlashName, rest: string): ShellStep {
  const mayNow = !isBusy(before) || SLASH_COMMANDS.some((one) => one.name === name && one.whileBusy === true);
  if (!mayNow) return still({ ...before, notice: { text: `/${name} waits until the reply is there. Esc stops it.`, isError: false } });
  switch (name) {
    case "quit":
      return { model: { ...emptied, result: { kind: "quit" } }, effects: [{ kind: "stop" }] };
    case "tree":
      return still({ ...emptied, result: { kind: "tree", draft: "" } });
    case "sessions":
      return still({ ...emptied, result: { kind: "sessions", draft: "" } });
    case "new":
      return still({ ...emptied, result: { kind: "new", title: rest === "" ? null : rest, draft: "" } });
    default:
      return { model: emptied, effects: [{ kind: "command", name, rest }] };
  }
}

/** Whether something is going on that a message has to wait for. */
export function isBusy({ reply, work }: ShellModel): boolean {
  return reply !== null || work !== null;
}
