import { applyCompletion, findCompletions } from "../prompt/completion.js";
import { continueLine, createEditor, edit, showNewer, showOlder } from "../prompt/editor.js";
import { actionOf } from "../tui/key-table.js";
import { type KeyEvent, type TerminalEvent, withoutEffects } from "../tui/screen.js";
import type { ShellAction } from "./keys.js";
import type { AskedQuestion, ShellEvent, ShellModel, ShellResult, ShellStep } from "./model.js";
import { parseLine, SLASH_COMMANDS, type SlashName } from "./slash-commands.js";

/** The second of two presses must come within this time. */
const DOUBLE_PRESS_MS = 1500;

/** Width of the sign before the text. */
const PROMPT_COLUMNS = 2;

/** Handles a key, a paste, a resize or the result of an effect. Pure. */
export function update(model: ShellModel, event: TerminalEvent | ShellEvent): ShellStep {
  switch (event.kind) {
    case "resize":
      return withoutEffects({ ...model, size: event.size });
    case "key":
      return model.question === null ? handleKey(model, event) : handleKeyAtQuestion(model, model.question, event);
    case "paste":
      return model.question === null ? editPrompt(model, event) : restartAnswerDelay(editPrompt(markTyping(model, model.question), event));
    case "mouse":
      return withoutEffects(model);
    default:
      return updateByEvent(model, event);
  }
}

/** A key while a question is shown: an answer, or input for the prompt. */
function handleKeyAtQuestion(model: ShellModel, question: AskedQuestion, event: KeyEvent): ShellStep {
  const { key } = event;
  const isFree = question.phase === "answerable" || (question.phase === "shown" && model.editor.text === "");
  if (isFree && (key === "escape" || key === "ctrl+c")) return { model: { ...model, question: null }, effects: [{ kind: "stop" }] };
  return question.phase === "answerable" ? answerQuestion(model, question, event) : restartAnswerDelay(handleKey(model, event));
}

function answerQuestion(model: ShellModel, question: AskedQuestion, event: KeyEvent): ShellStep {
  const answer = event.isBurst === true ? undefined : answerForKey(event.key, question);
  if (answer !== undefined) return { model: { ...model, question: null }, effects: [{ kind: "answer", id: question.id, answer }] };
  // Any other letter starts a message; the following letters must not answer.
  return event.text === undefined ? withoutEffects(model) : editPrompt(markTyping(model, question), event);
}

function answerForKey(key: string, { isOutside }: AskedQuestion) {
  const answer = ({ y: "yes", n: "no", a: "always" } as const)[key];
  return answer === "always" && isOutside ? undefined : answer;
}

function markTyping(model: ShellModel, question: AskedQuestion): ShellModel {
  return question.phase === "answerable" ? { ...model, question: { ...question, phase: "typing" } } : model;
}

/** Restarts the delay of a question that is not answerable yet: the user was typing. */
function restartAnswerDelay({ model, effects }: ShellStep): ShellStep {
  const { question } = model;
  return question?.phase === "shown"
    ? { model, effects: [...effects, { kind: "start-answer-delay", id: question.id }] }
    : { model, effects };
}

function handleKey(model: ShellModel, event: KeyEvent): ShellStep {
  const action = actionOf(model.keys, event.key);
  const step = action === undefined ? undefined : performAction(model, action, event);
  return step ?? editPrompt(model, event);
}

/** Performs an action other than editing; undefined: the key edits the text. */
function performAction(model: ShellModel, action: ShellAction, event: KeyEvent): ShellStep | undefined {
  const { editor, completions, question } = model;
  switch (action) {
    case "send":
      return handleEnter(model);
    case "complete":
      if (completions.length > 0) return acceptCompletion(model);
      return withoutEffects(
        question?.phase === "typing" && event.isBurst !== true ? { ...model, question: { ...question, phase: "answerable" } } : model,
      );
    case "older":
    case "newer":
      return moveUpOrDown(model, action, event);
    case "stop":
      return handleEscape(model);
    case "tree":
      return leave(model, { kind: "tree", draft: unsentText(model) });
    case "sessions":
      return leave(model, { kind: "sessions", draft: unsentText(model) });
    case "clear":
      return handleClear(model);
    case "leave":
      return editor.text === "" ? leave(model, { kind: "quit" }) : undefined;
  }
}

function handleEnter(model: ShellModel): ShellStep {
  const continued = continueLine(model.editor);
  if (continued !== undefined) return setEditor(model, continued);
  // Enter accepts a completion of a partial command, and sends a complete one.
  const chosen = model.completions[model.chosen];
  const isWhole = SLASH_COMMANDS.some(({ name }) => model.editor.text === `/${name}`);
  if (chosen !== undefined && !isWhole && !model.editor.text.includes(" ")) return acceptCompletion(model);
  return submit(model);
}

function acceptCompletion(model: ShellModel): ShellStep {
  const chosen = model.completions[model.chosen];
  return chosen === undefined ? withoutEffects(model) : setEditor(model, applyCompletion(model.editor, chosen));
}

/** Moves in the list of completions, else in the text, else in the history. */
function moveUpOrDown(model: ShellModel, action: "older" | "newer", event: KeyEvent): ShellStep {
  const { completions, chosen, editor, history } = model;
  if (completions.length > 0 && editor.history === null) {
    const by = action === "older" ? -1 : 1;
    return withoutEffects({ ...model, chosen: (chosen + by + completions.length) % completions.length });
  }
  const moved = edit(editor, event, textWidth(model));
  if (moved !== undefined) return setEditor(model, moved);
  return withoutEffects({
    ...model,
    editor: action === "older" ? showOlder(editor, history) : showNewer(editor, history),
    completions: [],
  });
}

function handleEscape(model: ShellModel): ShellStep {
  const { reply, work, completions, lastPress, nowMs, editor } = model;
  if (reply !== null) return { model: { ...model, reply: { ...reply, isStopping: true } }, effects: [{ kind: "stop" }] };
  if (work !== null) return { model: { ...model, work: { ...work, isStopping: true } }, effects: [{ kind: "stop" }] };
  if (completions.length > 0) return withoutEffects({ ...model, completions: [] });
  if (editor.text !== "") return withoutEffects(model);
  if (lastPress?.key === "escape" && nowMs - lastPress.atMs < DOUBLE_PRESS_MS) return leave(model, { kind: "tree", draft: "" });
  return withoutEffects({ ...model, lastPress: { key: "escape", atMs: nowMs }, notice: { text: "Esc again: the tree", isError: false } });
}

function handleClear(model: ShellModel): ShellStep {
  const { lastPress, nowMs, editor } = model;
  if (model.pendingResult !== null || (lastPress?.key === "ctrl+c" && nowMs - lastPress.atMs < DOUBLE_PRESS_MS))
    return leave(model, { kind: "quit" });
  const text = editor.text === "" ? "Ctrl-C again: quit" : "Cleared (Up restores it); Ctrl-C again: quit";
  const history = editor.text.trim() === "" ? model.history : addToHistory(model.history, editor.text);
  const next = { ...emptied(model), history, lastPress: { key: "ctrl+c" as const, atMs: nowMs } };
  return withoutEffects({ ...next, notice: { text, isError: false } });
}

function editPrompt(model: ShellModel, event: TerminalEvent): ShellStep {
  const editor = edit(model.editor, event, textWidth(model));
  return editor === undefined ? withoutEffects(model) : setEditor(model, editor);
}

function setEditor(model: ShellModel, editor: ShellModel["editor"]): ShellStep {
  const completions = findCompletions(editor.text, editor.cursor, SLASH_COMMANDS);
  return withoutEffects({ ...model, editor, completions, chosen: 0, notice: null, lastPress: null });
}

function textWidth({ size }: ShellModel): number {
  return Math.max(size.columns - PROMPT_COLUMNS, 1);
}

/** Handles the result of an effect. */
function updateByEvent(model: ShellModel, event: ShellEvent): ShellStep {
  const { nowMs } = model;
  switch (event.kind) {
    case "status":
      return withoutEffects({ ...model, status: { ...model.status, ...event.status } });
    case "notice":
      return withoutEffects({ ...model, notice: { text: event.text, isError: event.isError } });
    case "message-not-stored":
      return restoreText(model, event.text, event.reason);
    case "reply-started":
      return withoutEffects({ ...model, reply: { text: "", activity: "waiting for the model", sinceMs: nowMs, isStopping: false } });
    case "delta":
      return appendDelta(model, event);
    case "reply-stored":
      return withoutEffects(model.reply === null ? model : { ...model, reply: { ...model.reply, text: "" } });
    case "ask":
      return {
        model: { ...model, question: { ...event.question, phase: "shown" } },
        effects: [{ kind: "start-answer-delay", id: event.question.id }],
      };
    case "answer-delay-passed":
      return enableAnswers(model, event.id);
    case "reply-ended":
      return continueQueue({ ...model, reply: null, question: null });
    case "work-started":
      return withoutEffects({ ...model, work: { text: event.text, sinceMs: nowMs, isStopping: false } });
    case "work-ended":
      return continueQueue({ ...model, work: null });
    case "line-done":
      return continueQueue({ ...model, running: Math.max(model.running - 1, 0) });
    case "tick":
      return withoutEffects({ ...model, nowMs: event.nowMs });
    case "leave":
      return leaveNow(model, event.result);
  }
}

/** From now on letters answer the question, unless the prompt has text: its next letter must not become an answer. */
function enableAnswers(model: ShellModel, id: string): ShellStep {
  const { question, editor } = model;
  if (question?.id !== id || question.phase !== "shown") return withoutEffects(model);
  return withoutEffects({ ...model, question: { ...question, phase: editor.text === "" ? "answerable" : "typing" } });
}

/**
 * Puts a message that could not be stored back into the prompt, before the queued lines and the text typed since. Nothing is
 * sent again automatically.
 */
function restoreText(model: ShellModel, text: string, reason: string): ShellStep {
  const retyped = text.startsWith("/") ? `/${text}` : text;
  const editor = createEditor(unsentText({ ...model, queue: [retyped, ...model.queue] }), model.editor.killed);
  return withoutEffects({ ...model, editor, queue: [], completions: [], notice: { text: reason, isError: true } });
}

function appendDelta(model: ShellModel, { text, activity }: Extract<ShellEvent, { kind: "delta" }>): ShellStep {
  const { reply } = model;
  return withoutEffects(reply === null ? model : { ...model, reply: { ...reply, text: reply.text + text, activity } });
}

const MAX_HISTORY = 500;

/** Submits the prompt: sends it, starts a command, or queues it while something is running. */
function submit(model: ShellModel): ShellStep {
  const { text } = model.editor;
  if (text.trim() === "") return withoutEffects(model);
  const line = parseLine(text);
  if (line.kind === "unknown") return withoutEffects({ ...model, notice: { text: unknownText(line.name, line.nearest), isError: true } });
  const next: ShellModel = { ...emptied(model), notice: null, history: addToHistory(model.history, text) };
  if (line.kind === "command" && isBusy(model)) return submitWhileBusy(next, model, line.name, line.rest);
  if (line.kind === "command" && line.name === "quit") return leave(next, { kind: "quit" });
  if (isBusy(model) || model.running > 0) return withoutEffects({ ...next, queue: [...model.queue, text] });
  return send(next, text);
}

/** The prompt without text. What was cut from it can still be inserted: a draft that was cut for a command comes back with Ctrl-Y. */
function emptied(model: ShellModel): ShellModel {
  return { ...model, editor: createEditor("", model.editor.killed), completions: [] };
}

/**
 * Called when work has ended: leaves if the user asked for it, or sends the next queued line. Does nothing while other work is
 * running.
 */
function continueQueue(model: ShellModel): ShellStep {
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
function submitWhileBusy(next: ShellModel, before: ShellModel, name: SlashName, rest: string): ShellStep {
  const mayNow = SLASH_COMMANDS.some((one) => one.name === name && one.whileBusy === true);
  if (mayNow) return startCommand(next, name, rest);
  return withoutEffects({ ...before, notice: { text: `/${name} has to wait. ${whatRuns(before)}`, isError: false } });
}

/** The running work, for the user. Esc stops a reply and other work; a command runs to its end. */
function whatRuns({ reply, work }: ShellModel): string {
  if (reply !== null) return "A reply is in progress. Esc stops it.";
  return work === null ? "The last line is still being carried out." : `The shell is ${work.text}. Esc stops it.`;
}

/** True while a reply or other work is running. */
function isBusy({ reply, work }: ShellModel): boolean {
  return reply !== null || work !== null;
}

/** The queued lines and the text of the prompt, as one text. */
function unsentText({ queue, editor }: ShellModel): string {
  return [...queue, editor.text].filter((text) => text.trim() !== "").join("\n\n");
}

/** Ends the shell. Unsent text becomes the draft of the result, or is printed on quit. */
function leaveNow(model: ShellModel, result: ShellResult): ShellStep {
  if (result.kind !== "quit") return withoutEffects({ ...model, queue: [], result: { ...result, draft: unsentText(model) } });
  const effects = model.queue.length === 0 ? [] : [{ kind: "print-unsent" as const, texts: model.queue }];
  return { model: { ...model, result }, effects };
}

/** Ends the shell. While work is running, shows a notice, or for `quit` waits until it is stored; a second quit does not wait. */
function leave(model: ShellModel, result: ShellResult): ShellStep {
  const isIdle = !isBusy(model) && model.running === 0;
  if (isIdle || model.pendingResult !== null) return leaveNow(model, result);
  if (result.kind !== "quit") return withoutEffects({ ...model, notice: { text: whatRuns(model), isError: false } });
  const end = model.reply === null ? "what runs has ended" : "the reply so far is stored";
  const notice = { text: `Quitting when ${end}; Ctrl-C again: quit now`, isError: false };
  return { model: { ...model, pendingResult: result, notice }, effects: [{ kind: "stop" }] };
}
