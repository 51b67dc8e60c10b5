import { createEditor } from "../prompt/editor.js";
import { withoutEffects } from "../tui/screen.js";
import type { ShellModel, ShellResult, ShellStep } from "./model.js";
import { parseLine, SLASH_COMMANDS, type SlashName } from "./slash-commands.js";

/** Prompts that are kept for the arrows. */
const MAX_HISTORY = 500;

/** What is typed goes out: as a message, as a command, or behind what is still going on. */
export function submit(model: ShellModel): ShellStep {
  const { text } = model.editor;
  if (text.trim() === "") return withoutEffects(model);
  const line = parseLine(text);
  if (line.kind === "unknown") return withoutEffects({ ...model, notice: { text: unknownText(line.name, line.nearest), isError: true } });
  const emptied: ShellModel = {
    ...model,
    editor: createEditor(),
    completions: [],
    notice: null,
    history: addToHistory(model.history, text),
  };
  if (line.kind === "command" && isBusy(model)) return submitWhileBusy(emptied, model, line.name, line.rest);
  if (line.kind === "command" && line.name === "quit") return leave(emptied, { kind: "quit" });
  if (isBusy(model) || model.running > 0) return withoutEffects({ ...emptied, queue: [...model.queue, text] });
  return send(emptied, text);
}

/**
 * The shell after news that something has ended: the way out that waited for it, or the first of the lines that wait.
 * Nothing, while something else is still going on.
 */
export function continueQueue(model: ShellModel): ShellStep {
  if (isBusy(model) || model.running > 0) return withoutEffects(model);
  if (model.pendingResult !== null) return leaveNow(model, model.pendingResult);
  const [text, ...queue] = model.queue;
  return text === undefined ? withoutEffects(model) : send({ ...model, queue }, text);
}

function unknownText(name: string, nearest: string | null): string {
  const meant = nearest === null ? ". /help lists the commands." : `: did you mean /${nearest}?`;
  return `No command /${name}${meant} A message may begin with //.`;
}

function addToHistory(history: readonly string[], text: string): readonly string[] {
  return history.at(-1) === text ? history : [...history, text].slice(-MAX_HISTORY);
}

/** A line, as it was typed, while nothing else is going on. */
function send(model: ShellModel, text: string): ShellStep {
  const line = parseLine(text);
  switch (line.kind) {
    case "message":
      return { model: { ...model, running: model.running + 1 }, effects: [{ kind: "send", text: line.text }] };
    case "command":
      return startCommand(model, line.name, line.rest);
    case "unknown":
      return withoutEffects(model);
  }
}

function startCommand(model: ShellModel, name: SlashName, rest: string): ShellStep {
  switch (name) {
    case "quit":
      return leave(model, { kind: "quit" });
    case "tree":
    case "sessions":
      return leaveNow(model, { kind: name, draft: "" });
    case "new":
      return leaveNow(model, { kind: "new", title: rest === "" ? null : rest, draft: "" });
    default:
      return { model: { ...model, running: model.running + 1 }, effects: [{ kind: "command", name, rest }] };
  }
}

/** Most commands change what a reply stands on; they wait for its end, and the typed line stays. */
function submitWhileBusy(emptied: ShellModel, before: ShellModel, name: SlashName, rest: string): ShellStep {
  const mayNow = SLASH_COMMANDS.some((one) => one.name === name && one.whileBusy === true);
  if (mayNow) return startCommand(emptied, name, rest);
  return withoutEffects({ ...before, notice: { text: `/${name} waits until the reply is there. Esc stops it.`, isError: false } });
}

/** Whether a reply is being written, or something else that is shown as work. */
function isBusy({ reply, work }: ShellModel): boolean {
  return reply !== null || work !== null;
}

/** Everything that was typed and did not go out, as one text: what waited first, then what stands at the prompt. */
export function unsentText({ queue, editor }: ShellModel): string {
  return [...queue, editor.text].filter((text) => text.trim() !== "").join("\n\n");
}

/** The shell with an end. What was typed goes along, or is printed where the person leaves for good. */
export function leaveNow(model: ShellModel, result: ShellResult): ShellStep {
  if (result.kind !== "quit") return withoutEffects({ ...model, queue: [], result: { ...result, draft: unsentText(model) } });
  const effects = model.queue.length === 0 ? [] : [{ kind: "print-unsent" as const, texts: model.queue }];
  return { model: { ...model, result }, effects };
}

/** A reply that is being written is not left behind unseen: who leaves for good waits until what came of it is stored. */
export function leave(model: ShellModel, result: ShellResult): ShellStep {
  const isIdle = !isBusy(model) && model.running === 0;
  if (isIdle || model.pendingResult !== null) return leaveNow(model, result);
  if (result.kind !== "quit")
    return withoutEffects({ ...model, notice: { text: "A reply is being written. Esc stops it.", isError: false } });
  const notice = { text: "Leaving as soon as what came is stored; Ctrl-C again: at once", isError: false };
  return { model: { ...model, pendingResult: result, notice }, effects: [{ kind: "stop" }] };
}
