import { ContextMeter, loadCounter, type PreparedRequest, tokenizerOf } from "@bough/compaction";
import type { EntryId, Session, SessionContext } from "@bough/session-core";
import { withCompactor } from "../compacting/compacting.js";
import type { PresetName } from "../compacting/preset-names.js";
import { requestLines } from "../compacting/request-lines.js";
import { chooseWindow, type WindowChoice } from "../compacting/window-choice.js";
import type { Line } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import type { ContextTokens } from "./context-tokens.js";

/** Counted as the session's model counts, as far as that is known. */
export async function exactContextTokens(session: Session, context: SessionContext): Promise<ContextTokens> {
  const counter = tokenizerOf(context.model?.modelId);
  const meter = new ContextMeter(session, await loadCounter(counter));
  const { system, perMessage } = await meter.measure(context);
  await meter.flush();
  const messages = Array.from(perMessage);
  return { counter, system, messages, total: messages.reduce((sum, one) => sum + one, system) };
}

/** What would be sent at the leaf to a model of some window. */
export interface WindowedRequest {
  readonly context: SessionContext;
  readonly sentEntries: ReadonlySet<EntryId>;
  readonly json: Readonly<Record<string, unknown>>;
  readonly lines: (out: Printer) => Promise<readonly Line[]>;
}

/** For which window, and how. */
export interface WindowOptions {
  /** Tokens, or `auto` for that of the session's model. */
  readonly window?: number | "auto";
  readonly preset?: PresetName;
  /** What the definitions of tools take; a session does not hold them. */
  readonly toolTokens?: number;
}

/** Prepares a request as an agent would, with compaction off: nothing is written but counts. */
export async function windowedRequest(session: Session, options: WindowOptions): Promise<WindowedRequest> {
  const window = await chooseWindow(session, options.window === "auto" ? undefined : options.window);
  const settings = { preset: options.preset, enabled: false };
  const prepared = await withCompactor({ session, contextWindow: window.tokens, settings }, (compactor) =>
    compactor.prepareRequest({ toolTokens: options.toolTokens, tooLarge: "return" }),
  );
  return {
    context: prepared.context,
    sentEntries: new Set(prepared.entries),
    json: requestJson(prepared, window),
    lines: (out) => requestLines(out, prepared, window),
  };
}

function requestJson({ use, fits, done, entries }: PreparedRequest, window: WindowChoice): Readonly<Record<string, unknown>> {
  return { window, use, fits, changes: done.changes, entries };
}
