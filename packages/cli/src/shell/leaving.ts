import { still } from "../tui/screen.js";
import type { ShellModel, ShellResult, ShellStep } from "./model.js";

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
  if (result.kind !== "quit") return still({ ...model, queue: [], result: { ...result, draft: unsentText(model) } });
  const effects = model.queue.length === 0 ? [] : [{ kind: "unsent" as const, texts: model.queue }];
  return { model: { ...model, result }, effects };
}

/** A reply that is being written is not left behind unseen: who leaves for good waits until what came of it is stored. */
export function left(model: ShellModel, result: ShellResult): ShellStep {
  const isIdle = !isBusy(model) && model.running === 0;
  if (isIdle || model.leaving !== null) return ended(model, result);
  if (result.kind !== "quit") return still({ ...model, notice: { text: "A reply is being written. Esc stops it.", isError: false } });
  const notice = { text: "Leaving as soon as what came is stored; Ctrl-C again: at once", isError: false };
  return { model: { ...model, leaving: result, notice }, effects: [{ kind: "stop" }] };
}
