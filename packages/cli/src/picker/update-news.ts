import { counted } from "../format/numbers.js";
import { titleOf } from "../place/session-choice.js";
import type { TerminalEvent } from "../tui/screen.js";
import { rereadShown, withFailedList, withoutSession, withPage, withRecord, withRows } from "./lists.js";
import type { Notice, PickerModel, PickerNews, PickerStep } from "./model.js";
import { keyOf, quoted } from "./prompt.js";

/** Whether it is news of an effect, not something that a person did. */
export function isPlainNews(event: TerminalEvent | PickerNews): event is PickerNews {
  return event.kind !== "key" && event.kind !== "paste" && event.kind !== "resize";
}

/** What came of an effect. News that answers an older question changes nothing. */
export function updateByNews(model: PickerModel, news: PickerNews): PickerStep {
  return news.kind === "gone" ? gone(model, news.id) : { model: told(model, news), effects: [] };
}

function told(model: PickerModel, news: Exclude<PickerNews, { kind: "gone" }>): PickerModel {
  switch (news.kind) {
    case "sessions":
      return withPage(model, news);
    case "listFailed":
      return withFailedList(model, news);
    case "models":
      return { ...model, models: new Map([...model.models, ...news.models]) };
    case "preview":
      return news.number === model.preview.number ? { ...model, preview: { ...model.preview, messages: news.messages } } : model;
    case "hits":
    case "searchFailed":
      return withAnswer(model, news);
    case "there":
      return { ...model, result: { kind: "open", sessionId: news.id } };
    case "changed":
      return withNotice(withRecord(model, news.record), changeNotice(model, news));
    case "subagents":
      return withSubagents(model, news);
    case "deleted":
      return deleted(model, news);
    case "failed":
      return withNotice(model, { kind: "error", text: `${news.what}: ${news.reason}` });
  }
}

function withAnswer(model: PickerModel, news: Extract<PickerNews, { kind: "hits" | "searchFailed" }>): PickerModel {
  const { search } = model;
  if (news.number !== search.number) return model;
  if (news.kind === "hits") return withRows({ ...model, search: { ...search, hits: news.hits, more: news.more, state: "done" } });
  return withRows({ ...model, search: { ...search, hits: new Map(), state: news.isInvalid ? "invalid" : "failed", reason: news.reason } });
}

function withNotice(model: PickerModel, notice: Notice): PickerModel {
  return { ...model, notice };
}

function changeNotice({ settings, withArchived }: PickerModel, { record, what }: Extract<PickerNews, { kind: "changed" }>): Notice {
  const name = quoted(titleOf(record), settings);
  switch (what) {
    case "renamed":
      return { kind: "info", text: record.title === null ? `Without a title it is called ${name}.` : `Renamed to ${name}.` };
    case "archived":
      return {
        kind: "info",
        text: `Archived ${name}.${withArchived ? "" : ` ${keyOf(settings, "archived")} lists archived sessions too.`}`,
      };
    case "unarchived":
      return { kind: "info", text: `${name} is no longer archived.` };
  }
}

/** The question says what else would go, if it still stands. */
function withSubagents(model: PickerModel, { id, count }: Extract<PickerNews, { kind: "subagents" }>): PickerModel {
  if (model.mode.kind !== "delete" || model.mode.record.id !== id) return model;
  return { ...model, mode: { ...model.mode, subagents: count } };
}

function deleted(model: PickerModel, { id, subagents }: Extract<PickerNews, { kind: "deleted" }>): PickerModel {
  const beside = subagents === 0 ? "" : ` and ${counted(subagents, "session of its subagents", "sessions of its subagents")}`;
  return withNotice(withoutSession(model, id), { kind: "info", text: `Deleted ${nameOf(model, id)}${beside}.` });
}

/** Another process deleted a session: it is said, the list is read again, and the nearest row is selected. */
function gone(model: PickerModel, id: string): PickerStep {
  // What was deleted here is no news.
  if (!model.lists[model.scope].sessions.some(({ record }) => record.id === id)) return { model, effects: [] };
  const isAsked = (model.mode.kind === "delete" && model.mode.record.id === id) || (model.mode.kind === "rename" && model.mode.id === id);
  const left: PickerModel = isAsked ? { ...model, mode: { kind: "list" } } : model;
  const text = `${nameOf(model, id)} was deleted meanwhile by another program.`;
  return rereadShown(withNotice(withoutSession({ ...left, isChosen: true }, id), { kind: "error", text }));
}

function nameOf({ lists, scope, settings }: PickerModel, id: string): string {
  const known = lists[scope].sessions.find(({ record }) => record.id === id)?.record;
  return known === undefined ? `The session ${id}` : quoted(titleOf(known), settings);
}
