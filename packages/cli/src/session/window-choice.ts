import type { Session } from "@bough/session-core";
import { windowOf } from "../compacting/model-windows.js";
import { count } from "../format/numbers.js";

/** What is taken where neither the person nor the table says how large a window is, in tokens. */
export const DEFAULT_WINDOW = 200_000;

/** A model's window, and who says so. */
export interface WindowChoice {
  readonly tokens: number;
  /** The person, the table of models, or nobody. */
  readonly from: "option" | "model" | "default";
  /** The model that the session's path names; null: none. */
  readonly model: string | null;
}

/** The window to work with: what was asked for, or that of the session's model, or 200,000 tokens. */
export async function chooseWindow(session: Session, given: number | undefined): Promise<WindowChoice> {
  const model = (await session.settings()).model?.modelId ?? null;
  if (given !== undefined) return { tokens: given, from: "option", model };
  const known = model === null ? undefined : windowOf(model);
  return known === undefined ? { tokens: DEFAULT_WINDOW, from: "default", model } : { tokens: known, from: "model", model };
}

/** The choice in words. */
export function describeWindow({ tokens, from, model }: WindowChoice): string {
  return `${count(tokens)} tokens (${describeSource(from, model)})`;
}

function describeSource(from: WindowChoice["from"], model: string | null): string {
  switch (from) {
    case "option":
      return "as given";
    case "model":
      return `that of ${model ?? ""}`;
    case "default":
      return `assumed: ${model === null ? "the session names no model" : `that of ${model} is not known here`}; --window says another`;
  }
}
