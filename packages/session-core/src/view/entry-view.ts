import type { ContextEditPayload, EntryPayload } from "../entry/entry.js";
import { isSummary } from "../entry/kinds.js";
import type { AssistantBlock, AssistantMessage, BashExecutionMessage, Message } from "../entry/message.js";
import { asTyped } from "../entry/text.js";
import { viewAttachment, viewBlocks, viewCall, viewCommand, viewResult, viewText } from "./call-view.js";
import type { ReplyStep, Step } from "./group-steps.js";
import type { PriceList } from "./prices.js";
import { field, modelName, summaryFields, usageText, viewSummary } from "./summary-view.js";
import type { EntryView, MarkdownPart, NotePart, ViewField, ViewOptions, ViewPart, ViewTitle } from "./view.js";

/**
 * Returns the view of a step of a conversation: of an entry, or of a reply with the results of its calls. It decides once, for every
 * medium, which arguments of a call are drawn as a diff, a list of tasks or a command, which ones its title already contains, and which
 * facts an entry has; a writer needs a `case` for each type of part, and none for types of entries or blocks. Linear in the texts.
 *
 * @example
 * for await (const step of groupSteps(session.entries())) {
 *   const { heading, parts } = viewStep(step, { directory: record.cwd ?? undefined });
 *   for (const part of parts) if (part.type === "markdown") print(heading, part.text);
 * }
 */
export function viewStep(step: Step, options: ViewOptions = {}): EntryView {
  return step.kind === "reply" ? viewReply(step, options) : viewEntry(step.entry, options);
}

/**
 * The view of an entry alone; the calls of a reply have no results. For lists of single entries; `viewStep` is for documents.
 *
 * @example
 * viewEntry({ type: "thinking_level_change", thinkingLevel: "high" }).parts; // [{ type: "fact", name: "thinking level", value: "high" }]
 */
export function viewEntry(payload: EntryPayload, options: ViewOptions = {}): EntryView {
  return { ...titleOf(payload), fields: fieldsOf(payload, options), parts: partsOf(payload, options), isHidden: isHidden(payload) };
}

function viewReply({ message, results }: ReplyStep, options: ViewOptions): EntryView {
  const used = new Map<string, number>();
  const isStopped = message.stopReason === "aborted" || message.stopReason === "error" || message.errorMessage !== undefined;
  const resultOf = (id: string) => {
    const nth = used.get(id) ?? 0;
    used.set(id, nth + 1);
    // The end of a stopped reply is the reason why its calls have no results.
    return results.get(id)?.[nth] ?? (isStopped ? null : undefined);
  };
  const parts = viewAssistant(message, (block) => viewCall(block, resultOf(block.id), options));
  return { ...viewEntry({ type: "message", message: { ...message, content: [] } }, options), parts };
}

const ROLES: Readonly<Record<Exclude<Message["role"], "custom">, ViewTitle>> = {
  system: { kind: "system", name: "system", heading: "Instructions" },
  user: { kind: "user", name: "user", heading: "User" },
  assistant: { kind: "assistant", name: "assistant", heading: "Assistant" },
  toolResult: { kind: "result", name: "tool result", heading: "Assistant" },
  bashExecution: { kind: "command", name: "command", heading: "User" },
};

/** The names of an entry. A message in which a program stored what a person typed is one of the user. Cost: no text is read. */
export function titleOf(payload: EntryPayload): ViewTitle {
  switch (payload.type) {
    case "message": {
      const message = asTyped(payload.message);
      return message.role === "custom" ? { kind: "host", name: "custom", heading: `Message: ${message.customType}` } : ROLES[message.role];
    }
    case "custom_message":
      return { kind: "host", name: `custom message ${payload.customType}`, heading: `Message: ${payload.customType}` };
    case "compaction":
      return { kind: "compaction", name: "compaction", heading: "Compaction" };
    case "branch_summary":
      return { kind: "branch-summary", name: "branch summary", heading: "Branch summary" };
    case "model_change":
      return { kind: "model", name: "model change", heading: "Model" };
    case "thinking_level_change":
      return { kind: "thinking-level", name: "thinking level change", heading: "Thinking level" };
    case "context_edit":
      return { kind: "edit", name: "context edit", heading: "Context edit" };
    case "custom":
      return { kind: "custom", name: `custom ${payload.customType}`, heading: `Data of the host: ${payload.customType}` };
    case "foreign":
      return { kind: "foreign", name: `foreign ${payload.originalType}`, heading: `A record of another program: ${payload.originalType}` };
  }
}

function isHidden(payload: EntryPayload): boolean {
  if (payload.type !== "message") return payload.type === "custom_message" && payload.display === false;
  const message = asTyped(payload.message);
  return message.role === "custom" && message.display === false;
}

function fieldsOf(payload: EntryPayload, { prices }: ViewOptions): readonly ViewField[] {
  if (payload.type === "message") return messageFields(payload.message, prices);
  return isSummary(payload) ? summaryFields(payload, prices) : [];
}

function messageFields(message: Message, prices: PriceList | undefined): readonly ViewField[] {
  switch (message.role) {
    case "assistant":
      return [
        ...field("model", modelName(message.provider, message.model)),
        ...field("usage", usageText(message.usage, message.provider ?? "", message.model ?? "", prices)),
        ...field("stop reason", message.stopReason),
      ];
    case "toolResult":
      return [...field("tool", message.toolName), ...field("call", message.toolCallId)];
    case "bashExecution":
      return [...field("exit code", message.exitCode), ...(message.excludeFromContext === true ? field("in context", "no") : [])];
    case "custom":
      return field("kind", message.customType);
    case "system":
    case "user":
      return [];
  }
}

function partsOf(payload: EntryPayload, options: ViewOptions): readonly ViewPart[] {
  switch (payload.type) {
    case "message":
      return messageParts(options.asStored === true ? payload.message : asTyped(payload.message), options);
    case "compaction":
    case "branch_summary":
      return [viewSummary(payload)];
    case "model_change":
      return [{ type: "fact", name: "model", value: modelName(payload.provider, payload.modelId) }];
    case "thinking_level_change":
      return [{ type: "fact", name: "thinking level", value: payload.thinkingLevel ?? "default" }];
    case "context_edit":
      return editParts(payload, options);
    case "custom_message":
      return viewBlocks(payload.content, viewProse);
    case "custom":
      return payload.data === undefined ? [] : [{ type: "json", value: payload.data }];
    case "foreign":
      return [{ type: "json", value: payload.raw }];
  }
}

function messageParts(message: Message, options: ViewOptions): readonly ViewPart[] {
  switch (message.role) {
    case "user":
    case "custom":
    case "system":
      return viewBlocks(message.content, viewProse);
    case "assistant":
      return viewAssistant(message, (block) => viewCall(block, null, options));
    case "toolResult":
      return [viewResult(message)];
    case "bashExecution":
      return [viewCommand(message.command, false), ...viewBlocks(message.output, viewText), ...commandNotes(message)];
  }
}

function viewProse(text: string): MarkdownPart {
  return { type: "markdown", text };
}

function commandNotes({ cancelled, exitCode, truncated, excludeFromContext }: BashExecutionMessage): readonly NotePart[] {
  const failed = typeof exitCode === "number" && exitCode !== 0;
  return [
    ...(cancelled === true ? [note("cancelled", "The command was cancelled.")] : []),
    ...(cancelled !== true && failed ? [note("exit-code", `The command exited with code ${exitCode}.`, true)] : []),
    ...(truncated === true ? [note("truncated", "The output was cut when it was recorded.")] : []),
    ...(excludeFromContext === true ? [note("private", "Not sent to the model.", true)] : []),
  ];
}

function note(about: NotePart["about"], text: string, inFields = false): NotePart {
  return { type: "note", about, text, inFields };
}

type ToolCall = Extract<AssistantBlock, { type: "toolCall" }>;

function viewAssistant(message: AssistantMessage, viewOf: (call: ToolCall) => ViewPart): readonly ViewPart[] {
  return [...message.content.flatMap((block) => viewBlock(block, viewOf)), ...endNotes(message)];
}

function viewBlock(block: AssistantBlock, viewOf: (call: ToolCall) => ViewPart): readonly ViewPart[] {
  switch (block.type) {
    case "text":
      return block.text === "" ? [] : [viewProse(block.text)];
    case "thinking":
      return [{ type: "thinking", text: block.thinking, isHidden: block.redacted === true || block.thinking.trim() === "" }];
    case "toolCall":
      return [viewOf(block)];
    case "image":
    case "file":
    case "foreign":
      return [viewAttachment(block)];
  }
}

// Some programs record no stop reason; their replies count as complete.
function endNotes({ stopReason, errorMessage = "" }: AssistantMessage): readonly NotePart[] {
  const detail = errorMessage.trim() === "" ? {} : { detail: errorMessage };
  if (stopReason === "aborted") return [{ ...note("stopped", "The reply was stopped before it was finished.", true), ...detail }];
  if (stopReason === "error" || errorMessage.trim() !== "") return [{ ...note("failed", "The reply failed", true), ...detail }];
  return stopReason === "length" ? [note("cut", "The reply was cut off at the model's limit.", true)] : [];
}

function editParts({ targetId, replacement }: ContextEditPayload, options: ViewOptions): readonly ViewPart[] {
  if (replacement === null) return [{ type: "fact", name: "leaves out of the context", value: targetId }];
  const { content } = replacement;
  const parts =
    typeof content === "string"
      ? viewBlocks(content, viewProse)
      : content.flatMap((block) => viewBlock(block, (call) => viewCall(call, null, options)));
  return [{ type: "fact", name: "replaces in the context", value: targetId }, ...parts];
}
