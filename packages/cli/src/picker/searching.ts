import type { Field } from "../tui/field.js";
import { withRows } from "./lists.js";
import { queryWhileTyping } from "./matches.js";
import type { PickerModel, PickerStep } from "./model.js";

/** How long nobody types before texts are searched. */
const PAUSE_MS = 120;

/** Searches for what stands in the field: names at once, texts when typing pauses. The hits so far stay until then. */
export function searched(model: PickerModel, field: Field): PickerStep {
  const { search, scope } = model;
  const number = search.number + 1;
  const query = field.text.trim();
  const isNarrower = query !== "" && search.field.text.trim() !== "" && query.startsWith(search.field.text.trim());
  const next = withRows({
    ...model,
    isChosen: false,
    search: {
      ...search,
      field,
      number,
      hits: isNarrower ? search.hits : new Map(),
      state: query === "" ? "idle" : "running",
      reason: "",
      more: false,
    },
  });
  if (query === "") return { model: next, effects: [] };
  return { model: next, effects: [{ kind: "search", query: queryWhileTyping(field.text.trimStart()), scope, number, delayMs: PAUSE_MS }] };
}
