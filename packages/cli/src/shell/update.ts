import { completed, completionsOf } from "../prompt/completion.js";
import { continues, edit, editorOf, newer, older } from "../prompt/editor.js";
import { actionOf } from "../tui/key-table.js";
import { type KeyEvent, type TerminalEvent, withoutEffects } from "../tui/screen.js";
import type { ShellAction } from "./keys.js";
import type { AskedQuestion, ShellEvent, ShellModel, ShellStep } from "./model.js";
import { OFFERED, SLASH_COMMANDS } from "./slash-commands.js";
import { ended, left, sent, settled, unsentText } from "./submit.js";

/** A second press counts within this time, in milliseconds. */
const TWICE = 1500;

/** The prompt has two columns of its own before the text. */
const PROMPT_COLUMNS = 2;

/** The shell after a key, a paste, a new size, or news. Pure. */
export function update(model: ShellModel, event: TerminalEvent | ShellEvent): ShellStep {
  switch (event.kind) {
    case "resize":
      return withoutEffects({ ...model, size: event.size });
    case "key":
      return model.question === null ? pressed(model, event) : questioned(model, model.question, event);
    case "paste":
      return model.question === null ? typedIn(model, event) : distracted(typedIn(asTyping(model, model.question), event));
    default:
      return updateByEvent(model, event);
  }
}

/** A key while a question stands. Only a key that the question waits for answers it; the prompt takes all others. */
function questioned(model: ShellModel, question: AskedQuestion, event: KeyEvent): ShellStep {
  const { key } = event;
  const isFree = question.phase === "answerable" || (question.phase === "shown" && model.editor.text === "");
  if (isFree && (key === "escape" || key === "ctrl+c")) return { model: { ...model, question: null }, effects: [{ kind: "stop" }] };
  return question.phase === "answerable" ? answered(model, question, event) : distracted(pressed(model, event));
}

function answered(model: ShellModel, question: AskedQuestion, event: KeyEvent): ShellStep {
  const answer = event.isBurst === true ? undefined : answerOf(event.key, question);
  if (answer !== undefined) return { model: { ...model, question: null }, effects: [{ kind: "answer", id: question.id, answer }] };
  // Who types something else is writing a message: the letters that follow must not answer.
  return event.text === undefined ? withoutEffects(model) : typedIn(asTyping(model, question), event);
}

function answerOf(key: string, { isOutside }: AskedQuestion) {
  const answer = ({ y: "yes", n: "no", a: "always" } as const)[key];
  return answer === "always" && isOutside ? undefined : answer;
}

function asTyping(model: ShellModel, question: AskedQuestion): ShellModel {
  return question.phase === "answerable" ? { ...model, question: { ...question, phase: "typing" } } : model;
}

/** What came while a question had just been shown was not meant for it: the moment that it must stand begins again. */
function distracted({ model, effects }: ShellStep): ShellStep {
  const { question } = model;
  return question?.phase === "shown" ? { model, effects: [...effects, { kind: "await-moment", id: question.id }] } : { model, effects };
}

function pressed(model: ShellModel, event: KeyEvent): ShellStep {
  const action = actionOf(model.keys, event.key);
  const step = action === undefined ? undefined : acted(model, action, event);
  return step ?? typedIn(model, event);
}

/** What a key does besides typing; undefined: it types, or moves in the text. */
function acted(model: ShellModel, action: ShellAction, event: KeyEvent): ShellStep | undefined {
  const { editor, completions, question } = model;
  switch (action) {
    case "send":
      return entered(model);
    case "complete":
      if (completions.length > 0) return taken(model);
      return withoutEffects(
        question?.phase === "typing" && event.isBurst !== true ? { ...model, question: { ...question, phase: "answerable" } } : model,
      );
    case "older":
    case "newer":
      return upOrDown(model, action, event);
    case "stop":
      return escaped(model);
    case "tree":
      return left(model, { kind: "tree", draft: unsentText(model) });
    case "sessions":
      return left(model, { kind: "sessions", draft: unsentText(model) });
    case "clear":
      return cleared(model);
    case "leave":
      return editor.text === "" ? left(model, { kind: "quit" }) : undefined;
  }
}

function entered(model: ShellModel): ShellStep {
  const continued = continues(model.editor);
  if (continued !== undefined) return typing(model, continued);
  // Enter takes what is offered where only a beginning is typed, and sends a command that is whole.
  const chosen = model.completions[model.chosen];
  const isWhole = SLASH_COMMANDS.some(({ name }) => model.editor.text === `/${name}`);
  if (chosen !== undefined && !isWhole && !model.editor.text.includes(" ")) return taken(model);
  return sent(model);
}

function taken(model: ShellModel): ShellStep {
  const chosen = model.completions[model.chosen];
  return chosen === undefined ? withoutEffects(model) : typing(model, completed(model.editor, chosen));
}

/** In the list of what is offered, in the text, or in the history: in this order. */
function upOrDown(model: ShellModel, action: "older" | "newer", event: KeyEvent): ShellStep {
  const { completions, chosen, editor, history } = model;
  if (completions.length > 0 && editor.history === null) {
    const by = action === "older" ? -1 : 1;
    return withoutEffects({ ...model, chosen: (chosen + by + completions.length) % completions.length });
  }
  const moved = edit(editor, event, textWidth(model));
  if (moved !== undefined) return typing(model, moved);
  return withoutEffects({ ...model, editor: action === "older" ? older(editor, history) : newer(editor, history), completions: [] });
}

function escaped(model: ShellModel): ShellStep {
  const { reply, work, completions, armed, nowMs, editor } = model;
  if (reply !== null) return { model: { ...model, reply: { ...reply, isStopping: true } }, effects: [{ kind: "stop" }] };
  if (work !== null) return { model: { ...model, work: { ...work, isStopping: true } }, effects: [{ kind: "stop" }] };
  if (completions.length > 0) return withoutEffects({ ...model, completions: [] });
  if (editor.text !== "") return withoutEffects(model);
  if (armed?.key === "escape" && nowMs - armed.atMs < TWICE) return left(model, { kind: "tree", draft: "" });
  return withoutEffects({ ...model, armed: { key: "escape", atMs: nowMs }, notice: { text: "Esc again: the tree", isError: false } });
}

function cleared(model: ShellModel): ShellStep {
  const { armed, nowMs, editor } = model;
  if (model.leaving !== null || (armed?.key === "ctrl+c" && nowMs - armed.atMs < TWICE)) return left(model, { kind: "quit" });
  const text = editor.text === "" ? "Ctrl-C again: leave" : "Cleared (Up brings it back); Ctrl-C again: leave";
  const history = editor.text.trim() === "" ? model.history : [...model.history, editor.text];
  const next = { ...model, editor: editorOf(), history, completions: [], armed: { key: "ctrl+c" as const, atMs: nowMs } };
  return withoutEffects({ ...next, notice: { text, isError: false } });
}

function typedIn(model: ShellModel, event: TerminalEvent): ShellStep {
  const editor = edit(model.editor, event, textWidth(model));
  return editor === undefined ? withoutEffects(model) : typing(model, editor);
}

function typing(model: ShellModel, editor: ShellModel["editor"]): ShellStep {
  const completions = completionsOf(editor.text, editor.cursor, OFFERED);
  return withoutEffects({ ...model, editor, completions, chosen: 0, notice: null, armed: null });
}

function textWidth({ size }: ShellModel): number {
  return Math.max(size.columns - PROMPT_COLUMNS, 1);
}

/** The shell after what the world told. */
export function updateByEvent(model: ShellModel, event: ShellEvent): ShellStep {
  const { nowMs } = model;
  switch (event.kind) {
    case "status":
      return withoutEffects({ ...model, status: { ...model.status, ...event.status } });
    case "notice":
      return withoutEffects({ ...model, notice: { text: event.text, isError: event.isError } });
    case "stored":
      return withoutEffects(model);
    case "unstored":
      return unstored(model, event.text, event.why);
    case "reply-started":
      return withoutEffects({ ...model, reply: { text: "", doing: "waiting for the model", sinceMs: nowMs, isStopping: false } });
    case "delta":
      return written(model, event);
    case "reply-stored":
      return withoutEffects(model.reply === null ? model : { ...model, reply: { ...model.reply, text: "" } });
    case "ask":
      return {
        model: { ...model, question: { ...event.question, phase: "shown" } },
        effects: [{ kind: "await-moment", id: event.question.id }],
      };
    case "moment-passed":
      return seen(model, event.id);
    case "reply-ended":
      return settled({ ...model, reply: null, question: null });
    case "work":
      return withoutEffects({ ...model, work: { says: event.says, sinceMs: nowMs, isStopping: false } });
    case "work-ended":
      return settled({ ...model, work: null });
    case "done":
      return settled({ ...model, running: Math.max(model.running - 1, 0) });
    case "tick":
      return withoutEffects({ ...model, nowMs: event.nowMs });
    case "leave":
      return ended(model, event.result);
  }
}

/** Letters answer a question from here on, unless something is being typed: its next letter must not become an answer. */
function seen(model: ShellModel, id: string): ShellStep {
  const { question, editor } = model;
  if (question?.id !== id || question.phase !== "shown") return withoutEffects(model);
  return withoutEffects({ ...model, question: { ...question, phase: editor.text === "" ? "answerable" : "typing" } });
}

/**
 * What could not be stored is not lost: it stands at the prompt again, before what waited behind it and what was typed
 * since. None of that is tried by itself.
 */
function unstored(model: ShellModel, text: string, why: string): ShellStep {
  const retyped = text.startsWith("/") ? `/${text}` : text;
  const editor = editorOf(unsentText({ ...model, queue: [retyped, ...model.queue] }));
  return withoutEffects({ ...model, editor, queue: [], completions: [], notice: { text: why, isError: true } });
}

function written(model: ShellModel, { text, doing }: Extract<ShellEvent, { kind: "delta" }>): ShellStep {
  const { reply } = model;
  return withoutEffects(reply === null ? model : { ...model, reply: { ...reply, text: reply.text + text, doing } });
}
