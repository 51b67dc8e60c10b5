import { findContextWindow } from "@bough/compaction/providers";
import type { Session } from "@bough/session-core";
import { count } from "@bough/session-core/view";

/** The context window of a model that is not in the table, in tokens. */
export const DEFAULT_WINDOW = 200_000;

/** The context window of a model, and its source. */
export interface WindowChoice {
  readonly tokens: number;
  /** The user, the table of models, or the default. */
  readonly from: "option" | "model" | "default";
  /** The model in the settings of the session; null: none. */
  readonly model: string | null;
}

/** Chooses the context window: `given`, else that of the session's model, else 200,000 tokens. */
export async function chooseWindow(session: Session, given: number | undefined): Promise<WindowChoice> {
  return windowOf((await session.settings()).model?.modelId ?? null, given);
}

/** The same for a session whose model is known. `model` null: it has none. */
export function windowOf(model: string | null, given: number | undefined): WindowChoice {
  if (given !== undefined) return { tokens: given, from: "option", model };
  const known = model === null ? undefined : findContextWindow(model);
  return known === undefined ? { tokens: DEFAULT_WINDOW, from: "default", model } : { tokens: known, from: "model", model };
}

/** Describes the choice in one line. */
export function describeWindow({ tokens, from, model }: WindowChoice): string {
  return `${count(tokens)} tokens (${describeSource(from, model)})`;
}

function describeSource(from: WindowChoice["from"], model: string | null): string {
  switch (from) {
    case "option":
      return "as given";
    case "model":
      return `of ${model ?? ""}`;
    case "default":
      return `${assumedWindow(model)}; --window sets another`;
  }
}

/** Explains why the default window is used. `model` null: the session has none. */
export function assumedWindow(model: string | null): string {
  return `assumed: ${model === null ? "the session has no model" : `that of ${model} is not known here`}`;
}
