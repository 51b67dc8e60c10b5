import { type ContextMessage, type SessionContext, toAiSdk, toAnthropic, toOpenAiChat, toOpenAiResponses } from "@bough/session-core";
import { count, counted, summaryGist } from "@bough/session-core/view";
import { UsageError } from "../errors.js";
import { messageLines, roleName, textLines } from "../format/entry-lines.js";
import { roughMessageTokens, roughTokens } from "../format/rough-tokens.js";
import { type ChosenSession, chooseSession } from "../session/choose-session.js";
import { resolveEntry } from "../session/names.js";
import { withStore } from "../session/open-store.js";
import type { Io } from "../terminal/io.js";
import { type Line, styled, textOfLine } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { loadExactWidths } from "../terminal/width.js";
import type { Command, CommonOptions } from "./command.js";
import type { ContextTokens, WindowOptions } from "./context-window.js";

/** The output formats of a context. */
export type ContextFormat = "text" | "json" | "openai" | "responses" | "anthropic" | "ai-sdk";

interface ContextCommandOptions extends CommonOptions, WindowOptions {
  readonly at?: string;
  readonly format?: ContextFormat;
  readonly brief?: boolean;
  readonly exact?: boolean;
}

/** `bough context`: prints the context at an entry. */
export const runContext: Command<ContextCommandOptions> = async ({ io, out, args, options }) => {
  if (options.window === undefined && (options.preset !== undefined || options.toolTokens !== undefined))
    throw new UsageError("--preset and --tool-tokens need --window TOKENS or --window auto.");
  await withStore(io, options.store, "read", async (store) => {
    await loadExactWidths();
    const chosen = await chooseSession(store, io, out, args[0], "store");
    await print(out, chosen, await readContext(io, out, chosen, options), options);
  });
};

type ContextView = Awaited<ReturnType<typeof readContext>>;

/** A context with its token counts, and with --window the request fitted to the context window. */
async function readContext(io: Io, out: Printer, { session }: ChosenSession, options: ContextCommandOptions) {
  const leafId = options.at === undefined ? session.leafId : await resolveEntry(session, out, options.at);
  const context = await session.context({ leafId });
  if (options.window === undefined && options.exact !== true) return { context, tokens: estimateTokens(context), request: null };
  // Loading a tokenizer takes half a second, so it is loaded for exact counts only.
  const { countTokens, prepareForWindow } = await import("./context-window.js");
  const tokens = await countTokens(session, context);
  return { context, tokens, request: options.window === undefined ? null : await prepareForWindow(io, session, options) };
}

async function print(out: Printer, { record }: ChosenSession, view: ContextView, options: ContextCommandOptions): Promise<void> {
  const { context, tokens, request } = view;
  const sent = request?.context ?? context;
  switch (options.json === true ? "json" : (options.format ?? "text")) {
    case "text":
      return printAsText(out, view, options.brief === true);
    case "json":
      return out.json({
        session: { id: record.id, title: record.title },
        ...context,
        ...(tokens.counter === "rough" ? { roughTokens: { ...tokens, counter: undefined } } : { tokens }),
        ...(request === null ? {} : { request: request.json }),
      });
    case "openai":
      return out.json(toOpenAiChat(sent));
    case "responses":
      return out.json(toOpenAiResponses(sent));
    case "anthropic":
      return out.json(toAnthropic(sent));
    case "ai-sdk":
      return out.json(toAiSdk(sent));
  }
}

async function printAsText(out: Printer, { context, tokens, request }: ContextView, brief: boolean): Promise<void> {
  await printSettings(out, context, tokens, brief);
  for (const [at, message] of context.messages.entries()) {
    const entryId = context.entries[at] ?? "";
    const heading: Line = [
      styled("bold", roleName(message.role)),
      styled("dim", `  ${entryId}  ${describeTokens(tokens, tokens.messages[at] ?? 0)}`),
      ...(message.role === "compactionSummary" && message.native !== undefined ? [styled("dim", `  of ${message.native.provider}`)] : []),
      ...(request === null || request.sentEntries.has(entryId) ? [] : [styled("error", "  dropped")]),
    ];
    await printPart(out, heading, brief ? gistLines(message) : messageLines(message), brief);
  }
  if (!brief) out.line();
  out.line(
    styled("bold", `${counted(context.messages.length, "message")}, ${describeTokens(tokens, tokens.total)} in total`),
    styled("dim", tokens.counter === "rough" ? " (estimated)" : ` (${tokens.counter})`),
  );
  await out.lines((await request?.lines(out)) ?? []);
}

async function printSettings(
  out: Printer,
  { model, thinkingLevel, system }: SessionContext,
  tokens: ContextTokens,
  brief: boolean,
): Promise<void> {
  const named = model === null ? "not set" : [model.provider, model.modelId].filter((part) => part !== undefined).join("/");
  out.line(styled("dim", "model: "), named, styled("dim", "  thinking: "), thinkingLevel ?? "not set");
  if (system === null) return;
  await printPart(out, [styled("bold", "system"), styled("dim", `  ${describeTokens(tokens, tokens.system)}`)], textLines(system), brief);
}

/** Returns the beginning of a message; of a summary the beginning of its content, without the first heading. */
function gistLines(message: ContextMessage): readonly Line[] {
  const isSummary = message.role === "compactionSummary" || message.role === "branchSummary";
  return isSummary ? textLines(summaryGist(message.summary)) : messageLines(message);
}

async function printPart(out: Printer, heading: Line, lines: readonly Line[], brief: boolean): Promise<void> {
  if (brief) {
    const text = lines.map(textOfLine).find((line) => line.trim() !== "") ?? "";
    out.fitted(...heading, `  ${text.trim()}`);
    return out.pump();
  }
  out.line();
  out.line(...heading);
  await out.lines(lines);
  if (lines.length === 0) out.line(styled("dim", "(empty)"));
}

/** Estimates token counts without a tokenizer. */
export function estimateTokens(context: SessionContext): ContextTokens {
  const system = context.system === null ? 0 : roughTokens(context.system);
  const messages = context.messages.map(roughMessageTokens);
  return { counter: "rough", system, messages, total: messages.reduce((sum, one) => sum + one, system) };
}

/** A number of tokens; estimates have a tilde. */
export function describeTokens({ counter }: ContextTokens, tokens: number): string {
  return `${counter === "rough" ? "~" : ""}${count(tokens)} ${tokens === 1 ? "token" : "tokens"}`;
}
