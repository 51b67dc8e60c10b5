import { type Change, ContextMeter, loadCounter, type PreparedRequest, tokenizerOf } from "@bough/compaction";
import type { EntryId, Session, SessionContext } from "@bough/session-core";
import { count, counted } from "../format/numbers.js";
import { type Column, tableLines } from "../format/table.js";
import { withCompactor } from "../session/compactor.js";
import type { PresetName } from "../session/presets.js";
import { chooseWindow, describeWindow, type WindowChoice } from "../session/window-choice.js";
import { barText } from "../terminal/glyphs.js";
import { type Line, styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";

/** What a context costs, in tokens. */
export interface ContextTokens {
  /** What counted: a vocabulary's name, or `rough` for the rule of thumb. */
  readonly counter: string;
  readonly system: number;
  /** `messages[i]` is what the context's `messages[i]` has. */
  readonly messages: readonly number[];
  readonly total: number;
}

/** Counted as the session's model counts, as far as that is known. */
export async function countTokens(session: Session, context: SessionContext): Promise<ContextTokens> {
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
export async function prepareForWindow(session: Session, options: WindowOptions): Promise<WindowedRequest> {
  const window = await chooseWindow(session, options.window === "auto" ? undefined : options.window);
  const settings = { preset: options.preset, enabled: false };
  const prepared = await withCompactor({ session, contextWindow: window.tokens, settings }, (compactor) =>
    compactor.prepareRequest({ toolTokens: options.toolTokens, tooLarge: "return" }),
  );
  return {
    context: prepared.context,
    sentEntries: new Set(prepared.entries),
    json: requestToJson(prepared, window),
    lines: (out) => renderRequest(out, prepared, window),
  };
}

function requestToJson({ use, fits, done, entries }: PreparedRequest, window: WindowChoice): Readonly<Record<string, unknown>> {
  return { window, use, fits, changes: done.changes, entries };
}

const COLUMNS: readonly Column[] = [
  { heading: "request" },
  { heading: "tokens", align: "right" },
  { heading: "of the window", align: "right" },
  { heading: "", optional: true },
  { heading: "", optional: true, shrinksTo: 10 },
];

/** Columns of a whole window. */
const BAR = 20;

/** How full a window would be with one request, what was done to make it fit, and what is kept. */
export async function renderRequest(
  out: Printer,
  { use, fits, done, messages }: PreparedRequest,
  window: WindowChoice,
): Promise<readonly Line[]> {
  const row = (name: string, tokens: number, note = ""): readonly Line[] => [
    [name],
    [count(tokens)],
    [`${((100 * tokens) / use.windowTokens).toFixed(1)} %`],
    [styled("summary", barText(tokens / use.windowTokens, BAR, out.glyphs))],
    [styled("dim", note)],
  ];
  const rows = [
    row("system", use.systemTokens),
    ...(use.toolTokens === 0 ? [] : [row("tools", use.toolTokens)]),
    row("messages", use.messageTokens, counted(messages.length, "message")),
    row("total", use.totalTokens, use.source === "reported" ? "as the provider counted the last one" : ""),
    row(
      "threshold",
      use.thresholdTokens,
      use.totalTokens > use.thresholdTokens ? "crossed: an agent would compact now" : "above it is compacted",
    ),
    row("limit", use.limitTokens),
  ];
  return [
    [],
    [styled("dim", "window: "), describeWindow(window)],
    ...(await tableLines(COLUMNS, rows, out.width, out.glyphs.ellipsis)),
    ...done.changes.map((change): Line => [styled("bold", "left out or changed: "), describeChange(change)]),
    fits ? [styled("bold", "It fits.")] : [styled("error", "It does not fit, whatever is left out: the provider would refuse it.")],
  ];
}

/** One thing that was done to a request, in words. */
export function describeChange(change: Change): string {
  switch (change.kind) {
    case "removed-messages":
      return `${counted(change.messages, "message")}, ${count(change.tokens)} tokens: ${REMOVAL_REASONS[change.pass]}`;
    case "moved-results":
      return `${counted(change.messages, "result")} put behind the calls they answer`;
    case "closed-calls":
      return `${counted(change.calls, "call")} without a result given one that says so (${count(change.tokens)} tokens more)`;
    case "dropped-calls":
      return `${counted(change.calls, "call")} without a result, ${count(change.tokens)} tokens`;
    case "images":
      return `${counted(change.images, "old image")}, ${count(change.tokens)} tokens: a line of text stands for each`;
    case "trimmed":
      return `the ends of ${counted(change.results, "old tool result")}, ${count(change.tokens)} tokens`;
    case "cut-tool-results":
      return `the middle of ${counted(change.results, "tool result")}, ${count(change.tokens)} tokens: too large for this window`;
    case "cut-prompt":
      return `the middle of the newest prompt, ${count(change.tokens)} tokens: it alone is too large`;
    case "reattached-thinking":
      return `the last thought put before the first reply (${count(change.tokens)} tokens more)`;
  }
}

const REMOVAL_REASONS: Readonly<Record<Extract<Change, { kind: "removed-messages" }>["pass"], string>> = {
  "old-replies": "old replies and their results, so that what the person said stays longest",
  "old-messages": "what is older than the newest prompt",
  "turn-replies": "older rounds of the running turn",
  priority: "what has the lowest priority, the oldest first",
  orphans: "results without a call",
  summaries: "summaries; nothing else was left to go",
  "all-but-prompt": "everything but the newest prompt; nothing else was left to go",
};
