import { editorOf } from "../prompt/editor.js";
import { still } from "../tui/screen.js";
import { ended, unsentText } from "./leaving.js";
import type { ShellModel, ShellNews, ShellStep } from "./model.js";
import { settled } from "./sending.js";

/** The shell after what the world told. */
export function heard(model: ShellModel, news: ShellNews): ShellStep {
  const { nowMs } = model;
  switch (news.kind) {
    case "status":
      return still({ ...model, status: { ...model.status, ...news.status } });
    case "said":
      return still({ ...model, notice: { text: news.text, isError: news.isError } });
    case "stored":
      return still(model);
    case "unstored":
      return unstored(model, news.text, news.why);
    case "reply-started":
      return still({ ...model, reply: { text: "", doing: "waiting for the model", sinceMs: nowMs, isStopping: false } });
    case "delta":
      return written(model, news);
    case "reply-stored":
      return still(model.reply === null ? model : { ...model, reply: { ...model.reply, text: "" } });
    case "ask":
      return {
        model: { ...model, question: { ...news.question, phase: "shown" } },
        effects: [{ kind: "await-moment", id: news.question.id }],
      };
    case "moment-passed":
      return seen(model, news.id);
    case "reply-ended":
      return settled({ ...model, reply: null, question: null });
    case "work":
      return still({ ...model, work: { says: news.says, sinceMs: nowMs, isStopping: false } });
    case "work-ended":
      return settled({ ...model, work: null });
    case "done":
      return settled({ ...model, running: Math.max(model.running - 1, 0) });
    case "tick":
      return still({ ...model, nowMs: news.nowMs });
    case "leave":
      return ended(model, news.result);
  }
}

/** Letters answer a question from here on, unless something is being typed: its next letter must not become an answer. */
function seen(model: ShellModel, id: string): ShellStep {
  const { question, editor } = model;
  if (question?.id !== id || question.phase !== "shown") return still(model);
  return still({ ...model, question: { ...question, phase: editor.text === "" ? "answerable" : "typing" } });
}

/**
 * What could not be stored is not lost: it stands at the prompt again, before what waited behind it and what was typed
 * since. None of that is tried by itself.
 */
function unstored(model: ShellModel, text: string, why: string): ShellStep {
  const retyped = text.startsWith("/") ? `/${text}` : text;
  const editor = editorOf(unsentText({ ...model, queue: [retyped, ...model.queue] }));
  return still({ ...model, editor, queue: [], completions: [], notice: { text: why, isError: true } });
}

function written(model: ShellModel, { text, doing }: Extract<ShellNews, { kind: "delta" }>): ShellStep {
  const { reply } = model;
  return still(reply === null ? model : { ...model, reply: { ...reply, text: reply.text + text, doing } });
}
