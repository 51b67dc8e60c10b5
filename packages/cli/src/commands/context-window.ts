import { type Change, loadCounter, type PreparedRequest } from "@bough/compaction";
import { ContextMeter, tokenizerOf } from "@bough/compaction/providers";
import type { EntryId, Session, SessionContext } from "@bough/session-core";
import { count, counted } from "@bough/session-core/view";
import { loadConfig } from "../config/config-file.js";
import type { PresetName } from "../config/presets.js";
import { type ItemColumn, itemLines } from "../format/table.js";
import { compactionSettings, withCompactor } from "../session/compactor.js";
import { chooseWindow, describeWindow, type WindowChoice } from "../session/window-choice.js";
import { barText } from "../terminal/glyphs.js";
import type { Io } from "../terminal/io.js";
import { type Line, styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";

/** The token counts of a context. */
export interface ContextTokens {
  /** The name of the tokenizer; `rough`: the counts are estimates. */
  readonly counter: string;
  readonly system: number;
  /** Parallel to the `messages` of the context. */
  readonly messages: readonly number[];
  readonly total: number;
}

/** Counts tokens with the tokenizer of the session's model, or the default tokenizer for an unknown model. */
export async function countTokens(session: Session, context: SessionContext): Promise<ContextTokens> {
  const counter = tokenizerOf(context.model?.modelId);
  const meter = new ContextMeter(session, await loadCounter(counter));
  const { system, perMessage } = await meter.measure(context);
  await meter.flush();
  const messages = Array.from(perMessage);
  return { counter, system, messages, total: messages.reduce((sum, one) => sum + one, system) };
}

/** The request at the leaf, fitted to a context window. */
export interface WindowedRequest {
  readonly context: SessionContext;
  readonly sentEntries: ReadonlySet<EntryId>;
  readonly json: Readonly<Record<string, unknown>>;
  readonly lines: (out: Printer) => Promise<readonly Line[]>;
}

/** Options of `--window`. */
export interface WindowOptions {
  /** In tokens; `auto`: the context window of the session's model. */
  readonly window?: number | "auto";
  readonly preset?: PresetName;
  /** Tokens of the tool definitions, which are not part of a session. */
  readonly toolTokens?: number;
}

/** Prepares a request with compaction disabled. It writes nothing but token counts. */
export async function prepareForWindow(io: Io, session: Session, options: WindowOptions): Promise<WindowedRequest> {
  const window = await chooseWindow(session, options.window === "auto" ? undefined : options.window);
  const settings = { ...compactionSettings(await loadConfig(io), { preset: options.preset }), enabled: false };
  const prepared = await withCompactor({ session, contextWindow: window.tokens, settings }, (compactor) =>
    compactor.prepareRequest({ toolTokens: options.toolTokens, tooLarge: "return", preview: true }),
  );
  return {
    context: prepared.context,
    sentEntries: new Set(prepared.entries),
    json: requestToJson(prepared, window),
    lines: (out) => renderRequest(out, prepared, window),
  };
}

function requestToJson(request: PreparedRequest, window: WindowChoice): Readonly<Record<string, unknown>> {
  const { use, fits, done, thinking, cache, entries } = request;
  return { window, use, fits, changes: done.changes, thinking, reportedCache: cache.reported, entries };
}

/** A part of a request, and a note on it. */
type RequestRow = readonly [name: string, tokens: number, note?: string];

/** Width of the bar of a full context window, in columns. */
const BAR = 20;

/** Renders the token use of a request, the changes that made it fit, and whether it fits. */
async function renderRequest(
  out: Printer,
  { use, fits, done, thinking, cache, messages }: PreparedRequest,
  window: WindowChoice,
): Promise<readonly Line[]> {
  const shareOf = (tokens: number) => tokens / use.windowTokens;
  const columns: readonly ItemColumn<RequestRow>[] = [
    { heading: "request", cell: ([name]) => [name] },
    { heading: "tokens", align: "right", cell: ([, tokens]) => [count(tokens)] },
    { heading: "of window", align: "right", cell: ([, tokens]) => [`${(100 * shareOf(tokens)).toFixed(1)} %`] },
    { heading: "", optional: true, cell: ([, tokens]) => [styled("summary", barText(shareOf(tokens), BAR, out.glyphs))] },
    { heading: "", optional: true, shrinksTo: 10, cell: ([, , note = ""]) => [styled("dim", note)] },
  ];
  const rows: readonly RequestRow[] = [
    ["system", use.systemTokens],
    ...(use.toolTokens === 0 ? [] : [["tools", use.toolTokens] as const]),
    ["messages", use.messageTokens, counted(messages.length, "message")],
    ["total", use.totalTokens, use.source === "reported" ? "from the usage that the provider reported" : ""],
    [
      "threshold",
      use.thresholdTokens,
      use.totalTokens > use.thresholdTokens ? "exceeded: an agent would compact now" : "compaction starts above it",
    ],
    ["limit", use.limitTokens],
  ];
  return [
    [],
    [styled("dim", "window: "), describeWindow(window)],
    ...(await itemLines(out, columns, rows)),
    ...done.changes.map((change): Line => [styled("bold", "changed: "), describeChange(change)]),
    ...thinking.leftOut.map(
      ({ blocks, because }): Line => [styled("bold", "left out: "), `${counted(blocks, "thinking block")}: ${LEFT_OUT_REASONS[because]}`],
    ),
    ...(cache.reported === null ? [] : [describeCache(cache.reported)]),
    fits
      ? [styled("bold", "It fits.")]
      : [styled("error", "It does not fit, even with everything optional removed: the provider would reject it.")],
  ];
}

/** The provider's counts of its prompt cache for the newest reply. */
function describeCache({ readTokens, writtenTokens }: NonNullable<PreparedRequest["cache"]["reported"]>): Line {
  return [
    styled("bold", "cache: "),
    `${count(readTokens)} tokens of the newest reply's request were read, ${count(writtenTokens)} written`,
  ];
}

const LEFT_OUT_REASONS: Readonly<Record<PreparedRequest["thinking"]["leftOut"][number]["because"], string>> = {
  model: "another model wrote them",
  compaction: "a summary replaced what stood before them",
  edit: "something before them was edited or pruned",
  system: "the system message changed",
  result: "a result before them arrived later",
  request: "the request that they answer was shortened",
  changed: "this request changes what stands before them",
};

/** Describes one change that fitting made to a request. */
function describeChange(change: Change): string {
  switch (change.kind) {
    case "removed-messages":
      return `${counted(change.messages, "message")}, ${count(change.tokens)} tokens dropped: ${REMOVAL_REASONS[change.pass]}`;
    case "moved-results":
      return `${counted(change.messages, "result")} moved after their calls`;
    case "closed-calls":
      return `${counted(change.calls, "call")} without a result: a placeholder result added (${count(change.tokens)} tokens more)`;
    case "dropped-calls":
      return `${counted(change.calls, "call")} without a result dropped, ${count(change.tokens)} tokens`;
    case "images":
      return `${counted(change.images, "old image")} replaced by a line of text, ${count(change.tokens)} tokens`;
    case "trimmed":
      return `the ends of ${counted(change.results, "old tool result")} removed, ${count(change.tokens)} tokens`;
    case "cut-tool-results":
      return `the middle of ${counted(change.results, "tool result")} removed, ${count(change.tokens)} tokens: too large for this context window`;
    case "cut-prompt":
      return `the middle of the newest prompt removed, ${count(change.tokens)} tokens: the prompt alone is too large`;
    case "reattached-thinking":
      return `the last thinking block moved to the first reply (${count(change.tokens)} tokens more)`;
  }
}

const REMOVAL_REASONS: Readonly<Record<Extract<Change, { kind: "removed-messages" }>["pass"], string>> = {
  "old-replies": "old replies and their results; messages of the user are kept longest",
  "old-messages": "messages before the newest prompt",
  "turn-replies": "older replies of the current turn",
  priority: "messages of the lowest priority, oldest first",
  orphans: "results without a call",
  summaries: "summaries, because nothing else could be dropped",
  "all-but-prompt": "everything but the newest prompt, because nothing else could be dropped",
};
