import { editorOf } from "../prompt/editor.js";
import { still } from "../tui/screen.js";
import type { ShellModel, ShellNews, ShellStep } from "./model.js";

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
      return still({ ...model, question: news.question });
    case "reply-ended":
      return next({ ...model, reply: null, question: null });
    case "work":
      return still({ ...model, work: { says: news.says, sinceMs: nowMs, isStopping: false } });
    case "work-ended":
      return next({ ...model, work: null });
    case "tick":
      return still({ ...model, nowMs: news.nowMs });
    case "leave":
      return still({ ...model, result: news.result });
  }
}

/** What could not be stored is not lost: it stands at the prompt again, before what was typed since. */
function unstored(model: ShellModel, text: string, why: string): ShellStep {
  const typed = model.editor.text;
  const editor = editorOf(typed === "" ? text : `${text}\n\n${typed}`);
  return still({ ...model, editor, notice: { text: why, isError: true } });
}

function written(model: ShellModel, { text, doing }: Extract<ShellNews, { kind: "delta" }>): ShellStep {
  const { reply } = model;
  return still(reply === null ? model : { ...model, reply: { ...reply, text: reply.text + text, doing } });
}

/** The first of the messages that wait goes out. */
function next(model: ShellModel): ShellStep {
  const [text, ...queue] = model.queue;
  return text === undefined ? still(model) : { model: { ...model, queue }, effects: [{ kind: "say", text }] };
}
