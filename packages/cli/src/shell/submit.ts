import { editorOf } from "../prompt/editor.js";
import { withoutEffects } from "../tui/screen.js";
import type { ShellModel, ShellResult, ShellStep } from "./model.js";
import { SLASH_COMMANDS, type SlashName, typed } from "./slash-commands.js";

/** Prompts that are kept for the arrows. */
const MOST_HISTORY = 500;

/** What is typed goes out: as a message, as a command, or behind what is still going on. */
export function sent(model: ShellModel): ShellStep {
  const { text } = model.editor;
  if (text.trim() === "") return withoutEffects(model);
  const line = typed(text);
  if (line.kind === "unknown") return withoutEffects({ ...model, notice: { text: unknownText(line.name, line.nearest), isError: true } });
  const emptied: ShellModel = { ...model, editor: editorOf(), completions: [], notice: null, history: remembered(model.history, text) };
  if (line.kind === "command" && isBusy(model)) return duringReply(emptied, model, line.name, line.rest);
  if (line.kind === "command" && line.name === "quit") return left(emptied, { kind: "quit" });
  if (isBusy(model) || model.running > 0) return withoutEffects({ ...emptied, queue: [...model.queue, text] });
  return goesOut(emptied, text);
}

/**
 * The shell after news that something has ended: the way out that waited for it, or the first of the lines that wait.
 * Nothing, while something else is still going on.
 */
export function settled(model: ShellModel): ShellStep {
  if (isBusy(model) || model.running > 0) return withoutEffects(model);
  if (model.leaving !== null) return ended(model, model.leaving);
  const [text, ...queue] = model.queue;
  return text === undefined ? withoutEffects(model) : goesOut({ ...model, queue }, text);
}

function unknownText(name: string, nearest: string | null): string {
  const meant = nearest === null ? ". /help lists the commands." : `: did you mean /${nearest}?`;
  return `No command /${name}${meant} A message may begin with //.`;
}

function remembered(history: readonly string[], text: string): readonly string[] {
  return history.at(-1) === text ? history : [...history, text].slice(-MOST_HISTORY);
}

/** A line, as it was typed, while nothing else is going on. */
function goesOut(model: ShellModel, text: string): ShellStep {
  const line = typed(text);
  switch (line.kind) {
    case "message":
      return { model: { ...model, running: model.running + 1 }, effects: [{ kind: "say", text: line.text }] };
    case "command":
      return commanded(model, line.name, line.rest);
    case "unknown":
      return withoutEffects(model);
  }
}

function commanded(model: ShellModel, name: SlashName, rest: string): ShellStep {
  switch (name) {
    case "quit":
      return left(model, { kind: "quit" });
    case "tree":
    case "sessions":
      return ended(model, { kind: name, draft: "" });
    case "new":
      return ended(model, { kind: "new", title: rest === "" ? null : rest, draft: "" });
    default:
      return { model: { ...model, running: model.running + 1 }, effects: [{ kind: "command", name, rest }] };
  }
}

/** Most commands change what a reply stands on; they wait for its end, and the typed line stays. */
function duringReply(emptied: ShellModel, before: ShellModel, name: SlashName, rest: string): ShellStep {
  const mayNow = SLASH_COMMANDS.some((one) => one.name === name && one.whileBusy === true);
  if (mayNow) return commanded(emptied, name, rest);
  return withoutEffects({ ...before, notice: { text: `/${name} waits until the reply is there. Esc stops it.`, isError: false } });
}

/** Whether a reply is being written, or something else that is shown as work. */
export function isBusy({ reply, work }: ShellModel): boolean {
  return reply !== null || work !== null;
}

/** Everything that was typed and did not go out, as one text: what waited first, then what stands at the prompt. */
export function unsentText({ queue, editor }: ShellModel): string {
  return [...queue, editor.text].filter((text) => text.trim() !== "").join("\n\n");
}

/** The shell with an end. What was typed goes along, or is printed where the person leaves for good. */
export function ended(model: ShellModel, result: ShellResult): ShellStep {
  if (result.kind !== "quit") return withoutEffects({ ...model, queue: [], result: { ...result, draft: unsentText(model) } });
  const effects = model.queue.length === 0 ? [] : [{ kind: "unsent" as const, texts: model.queue }];
  return { model: { ...model, result }, effects };
}

/** A reply that is being written is not left behind unseen: who leaves for good waits until what came of it is stored. */
export function left(model: ShellModel, result: ShellResult): ShellStep {
  const isIdle = !isBusy(model) && model.running === 0;
  if (isIdle || model.leaving !== null) return ended(model, result);
  if (result.kind !== "quit")
    return withoutEffects({ ...model, notice: { text: "A reply is being written. Esc stops it.", isError: false } });
  const notice = { text: "Leaving as soon as what came is stored; Ctrl-C again: at once", isError: false };
  return { model: { ...model, leaving: result, notice }, effects: [{ kind: "stop" }] };
}
