import { createEditor } from "../prompt/editor.js";
import { withoutEffects } from "../tui/screen.js";
import type { ShellModel, ShellResult, ShellStep } from "./model.js";
import { parseLine, SLASH_COMMANDS, type SlashName } from "./slash-commands.js";

const MAX_HISTORY = 500;

/** Submits the prompt: sends it, starts a command, or queues it while something is running. */
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
 * Called when work has ended: leaves if the user asked for it, or sends the next queued line. Does nothing while other work is
 * running.
 */
export function continueQueue(model: ShellModel): ShellStep {
  if (isBusy(model) || model.running > 0) return withoutEffects(model);
  if (model.pendingResult !== null) return leaveNow(model, model.pendingResult);
  const [text, ...queue] = model.queue;
  return text === undefined ? withoutEffects(model) : send({ ...model, queue }, text);
}

function unknownText(name: string, nearest: string | null): string {
  const meant = nearest === null ? ". /help lists the commands." : `: did you mean /${nearest}?`;
  return `No command /${name}${meant} To send a message that starts with /, type //.`;
}

function addToHistory(history: readonly string[], text: string): readonly string[] {
  return history.at(-1) === text ? history : [...history, text].slice(-MAX_HISTORY);
}

/** Sends a typed line. Nothing else may be running. */
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

/** Most commands change the session of the reply: they are refused until it ends, and the line stays in the prompt. */
function submitWhileBusy(emptied: ShellModel, before: ShellModel, name: SlashName, rest: string): ShellStep {
  const mayNow = SLASH_COMMANDS.some((one) => one.name === name && one.whileBusy === true);
  if (mayNow) return startCommand(emptied, name, rest);
  return withoutEffects({ ...before, notice: { text: `/${name} can run when the reply has ended. Esc stops it.`, isError: false } });
}

/** True while a reply or other work is running. */
function isBusy({ reply, work }: ShellModel): boolean {
  return reply !== null || work !== null;
}

/** The queued lines and the text of the prompt, as one text. */
export function unsentText({ queue, editor }: ShellModel): string {
  return [...queue, editor.text].filter((text) => text.trim() !== "").join("\n\n");
}

/** Ends the shell. Unsent text becomes the draft of the result, or is printed on quit. */
export function leaveNow(model: ShellModel, result: ShellResult): ShellStep {
  if (result.kind !== "quit") return withoutEffects({ ...model, queue: [], result: { ...result, draft: unsentText(model) } });
  const effects = model.queue.length === 0 ? [] : [{ kind: "print-unsent" as const, texts: model.queue }];
  return { model: { ...model, result }, effects };
}

/** Ends the shell. While work is running, shows a notice, or for `quit` waits until it is stored; a second quit does not wait. */
export function leave(model: ShellModel, result: ShellResult): ShellStep {
  const isIdle = !isBusy(model) && model.running === 0;
  if (isIdle || model.pendingResult !== null) return leaveNow(model, result);
  if (result.kind !== "quit")
    return withoutEffects({ ...model, notice: { text: "A reply is in progress. Esc stops it.", isError: false } });
  const notice = { text: "Quitting when the reply so far is stored; Ctrl-C again: quit now", isError: false };
  return { model: { ...model, pendingResult: result, notice }, effects: [{ kind: "stop" }] };
}
