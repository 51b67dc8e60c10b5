import { type AnthropicMessage, type ContextMessage, type SessionContext, toAiSdk, toAnthropic, toOpenAiChat } from "@bough/session-core";

// What the providers refuse, from their documentation and from the errors they answer with.

function contextOf(messages: readonly ContextMessage[]): SessionContext {
  return { messages, entries: messages.map((_, at) => `e${at}`), model: null, thinkingLevel: null, system: null, compaction: null };
}

/** Why providers would refuse a request; empty: none would. */
export function problemsOf(messages: readonly ContextMessage[]): readonly string[] {
  const context = contextOf(messages);
  return [
    ...pairingProblems(messages),
    ...chatProblems(toOpenAiChat(context)),
    ...sdkProblems(toAiSdk(context).messages),
    ...anthropicProblems(toAnthropic(context).messages),
  ];
}

/** Of the context itself: the converters would hide a result without a call, and that would cost its tokens. */
export function pairingProblems(messages: readonly ContextMessage[]): readonly string[] {
  let open: string[] = [];
  const problems: string[] = [];
  for (const [at, message] of messages.entries()) {
    if (message.role === "toolResult") {
      if (open.shift() !== message.toolCallId) problems.push(`context ${at}: a result that is not the next one due`);
      continue;
    }
    if (open.length > 0) problems.push(`context ${at}: calls without results before it`);
    open = message.role === "assistant" ? message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : [])) : [];
  }
  return open.length > 0 ? [...problems, "context: calls without results at the end"] : problems;
}

// "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
function chatProblems(messages: ReturnType<typeof toOpenAiChat>): readonly string[] {
  const problems: string[] = [];
  let due = new Set<string>();
  for (const [at, message] of messages.entries()) {
    if (message.role === "tool") {
      if (!due.delete(message.tool_call_id)) problems.push(`chat ${at}: a tool message without a call`);
      continue;
    }
    if (due.size > 0) problems.push(`chat ${at}: calls that are not answered`);
    due = new Set(message.role === "assistant" ? (message.tool_calls ?? []).map(({ id }) => id) : []);
    const isEmpty = message.content === null || message.content.length === 0;
    if (isEmpty && due.size === 0) problems.push(`chat ${at}: nothing is said`);
  }
  return due.size > 0 ? [...problems, "chat: calls that are not answered at the end"] : problems;
}

function sdkProblems(messages: ReturnType<typeof toAiSdk>["messages"]): readonly string[] {
  const problems: string[] = [];
  let due: string[] = [];
  for (const [at, message] of messages.entries()) {
    const answers = message.role === "tool" ? message.content.flatMap((part) => ("toolCallId" in part ? [part.toolCallId] : [])) : [];
    if (answers.join() !== due.join()) problems.push(`sdk ${at}: results ${answers} for calls ${due}`);
    due = message.role === "assistant" ? message.content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : [])) : [];
  }
  return due.length > 0 ? [...problems, "sdk: calls without results at the end"] : problems;
}

// Roles alternate from the user's on; each tool_use has its tool_result at the front of the next message; ids are unique;
// no text is blank; a reply does not end with thinking.
function anthropicProblems(messages: readonly AnthropicMessage[]): readonly string[] {
  const ids = messages.flatMap(usesOf);
  const problems = new Set(ids).size < ids.length ? ["anthropic: an id again"] : [];
  let due: readonly unknown[] = [];
  for (const [at, message] of messages.entries()) {
    if (message.role !== (at % 2 === 0 ? "user" : "assistant")) problems.push(`anthropic ${at}: roles do not alternate`);
    const results = message.role === "user" ? leadingResults(message) : [];
    if (results.toSorted().join() !== due.toSorted().join()) problems.push(`anthropic ${at}: results do not match`);
    due = usesOf(message);
    problems.push(...contentProblems(message).map((problem) => `anthropic ${at}: ${problem}`));
  }
  return due.length > 0 ? [...problems, "anthropic: calls without results at the end"] : problems;
}

function usesOf(message: AnthropicMessage): readonly unknown[] {
  return message.role === "assistant" ? message.content.flatMap((block) => (block.type === "tool_use" ? [block["id"]] : [])) : [];
}

function contentProblems({ role, content }: AnthropicMessage): readonly string[] {
  const texts = content.flatMap((block) => (block.type === "text" ? [String(block["text"])] : []));
  return [
    content.length === 0 ? "nothing is said" : "",
    texts.some((text) => text.trim() === "") ? "a blank text" : "",
    texts.every((text) => text.isWellFormed()) ? "" : "half a surrogate pair",
    role === "assistant" && content.at(-1)?.type.includes("thinking") ? "ends with thinking" : "",
  ].filter((problem) => problem !== "");
}

function leadingResults(message: Extract<AnthropicMessage, { role: "user" }>): readonly unknown[] {
  const end = message.content.findIndex(({ type }) => type !== "tool_result");
  const results = end < 0 ? message.content : message.content.slice(0, end);
  return results.map((block) => (block.type === "tool_result" ? block["tool_use_id"] : undefined));
}
