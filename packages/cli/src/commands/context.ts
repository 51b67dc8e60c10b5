import { type SessionContext, toAISDK, toAnthropic, toOpenAIChat, toOpenAIResponses } from "@bough/session-core";
import { messageLines, roleName, textLines } from "../format/message-lines.js";
import { count, counted } from "../format/numbers.js";
import { roughMessageTokens, roughTokens } from "../format/rough-tokens.js";
import { withStore } from "../place/open.js";
import { type ChosenSession, chooseSession } from "../place/session-choice.js";
import { fitLine, type Line, styled, textOfLine } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { loadExactWidths } from "../terminal/width.js";
import type { Command, CommonOptions } from "./command.js";

/** How a context can be printed. */
export type ContextFormat = "text" | "json" | "openai" | "responses" | "anthropic" | "ai-sdk";

interface ContextCommandOptions extends CommonOptions {
  readonly at?: string;
  readonly format?: ContextFormat;
  readonly brief?: boolean;
}

interface RoughTokens {
  readonly system: number;
  readonly messages: readonly number[];
  readonly total: number;
}

/** `bough context`: what the model is sent at one point. */
export const run: Command<ContextCommandOptions> = async ({ io, out, args, options }) => {
  await withStore(io, options.store, "read", async (store) => {
    await loadExactWidths();
    const chosen = await chooseSession(store, io, out, args[0], "store");
    const leafId = options.at === undefined ? chosen.session.leafId : await chosen.session.resolve(options.at);
    const context = await chosen.session.context({ leafId });
    await print(out, chosen, context, options);
  });
};

async function print(out: Printer, { record }: ChosenSession, context: SessionContext, options: ContextCommandOptions): Promise<void> {
  switch (options.json === true ? "json" : (options.format ?? "text")) {
    case "text":
      return printText(out, context, options.brief === true);
    case "json":
      return out.json({ session: { id: record.id, title: record.title }, ...context, roughTokens: tokensOf(context) });
    case "openai":
      return out.json(toOpenAIChat(context));
    case "responses":
      return out.json(toOpenAIResponses(context));
    case "anthropic":
      return out.json(toAnthropic(context));
    case "ai-sdk":
      return out.json(toAISDK(context));
  }
}

function tokensOf(context: SessionContext): RoughTokens {
  const system = context.system === null ? 0 : roughTokens(context.system);
  const messages = context.messages.map(roughMessageTokens);
  return { system, messages, total: messages.reduce((sum, one) => sum + one, system) };
}

async function printText(out: Printer, context: SessionContext, brief: boolean): Promise<void> {
  const tokens = tokensOf(context);
  printSettings(out, context, tokens, brief);
  for (const [at, message] of context.messages.entries()) {
    const heading: Line = [
      styled("bold", roleName(message.role)),
      styled("dim", `  ${context.entries[at] ?? ""}  ~${count(tokens.messages[at] ?? 0)} tokens`),
    ];
    printPart(out, heading, messageLines(message), brief);
    await out.pump();
  }
  if (!brief) out.line();
  out.line(
    styled("bold", `${counted(context.messages.length, "message")}, ~${count(tokens.total)} tokens in all`),
    styled("dim", " (rough)"),
  );
}

function printSettings(out: Printer, { model, thinkingLevel, system }: SessionContext, tokens: RoughTokens, brief: boolean): void {
  const named = model === null ? "not set" : [model.provider, model.modelId].filter((part) => part !== undefined).join("/");
  out.line(styled("dim", "model: "), named, styled("dim", "  thinking: "), thinkingLevel ?? "not set");
  if (system === null) return;
  printPart(out, [styled("bold", "system"), styled("dim", `  ~${count(tokens.system)} tokens`)], textLines(system), brief);
}

function printPart(out: Printer, heading: Line, lines: readonly Line[], brief: boolean): void {
  if (brief) {
    const text = lines.map(textOfLine).find((line) => line.trim() !== "") ?? "";
    out.line(...fitLine([...heading, `  ${text.trim()}`], out.width, out.glyphs.ellipsis));
    return;
  }
  out.line();
  out.line(...heading);
  for (const line of lines) out.line(...line);
  if (lines.length === 0) out.line(styled("dim", "(empty)"));
}
