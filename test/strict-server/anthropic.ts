// Anthropic's Messages API as its documentation describes it, for what Bough promises: turns, pairs of calls and results, signed
// thinking that is bound to what stands before it, and a prompt cache.
import { z } from "zod";
import { Prefix, PromptCache, seal, unseal } from "./prefix.js";
import { type Answer, type Route, refusal } from "./server.js";

const block = z.looseObject({ type: z.string() });
const message = z.looseObject({ role: z.enum(["user", "assistant", "system"]), content: z.union([z.string(), z.array(block)]) });
const body = z.looseObject({
  model: z.string(),
  system: z.unknown().optional(),
  tools: z.unknown().optional(),
  messages: z.array(message),
  compaction: z.looseObject({ type: z.literal("summarize"), instructions: z.string().optional() }).nullish(),
  context_management: z
    .looseObject({
      edits: z.array(
        z.looseObject({
          type: z.literal("compact_20260112"),
          trigger: z.looseObject({ value: z.number() }),
          pause_after_compaction: z.boolean().optional(),
        }),
      ),
    })
    .nullish(),
  thinking: z
    .looseObject({ block_binding: z.looseObject({ prefix_mismatch_behavior: z.enum(["error", "drop_block"]) }).optional() })
    .optional(),
});

/** A block of a message. */
export type Block = z.infer<typeof block>;
/** A request that has passed the schema. */
type AnthropicRequest = z.infer<typeof body>;

/** A reply before it is signed: its thinking has no signature yet. */
interface Draft {
  readonly content: readonly Block[];
  readonly stop_reason: string;
}

/** What the model says to a request; `n` counts the replies from 0. */
export type Respond = (request: AnthropicRequest, n: number) => Draft;

/** The Messages API. `cache` is shared by all requests; clear it to let a pause pass. */
export function anthropicRoute(respond: Respond, cache = new PromptCache()): Route {
  let replies = 0;
  return (given, { account, betas }) => {
    const parsed = body.safeParse(given);
    if (!parsed.success) return invalid(z.prettifyError(parsed.error));
    // A model with its date is the model that its alias names.
    const request = { ...parsed.data, model: parsed.data.model.replace(/-20\d{6}$/, "") };
    const broken = brokenCompaction(request, account, betas) ?? brokenTurns(request) ?? brokenPairs(request);
    if (broken !== undefined) return invalid(broken);
    const { prefix, problem, dropped } = judgeThinking(request, account);
    if (problem !== undefined) return invalid(problem);
    const binding = { model: request.model, account };
    const compacted = compactsNow(request, prefix) ? [makeCompaction(request, prefix, account)] : [];
    const isPaused = request.compaction != null || request.context_management?.edits[0]?.pause_after_compaction === true;
    const { read, written } = cache.read(prefix.boundaries);
    if (compacted.length > 0 && isPaused) return onlyCompaction(request.model, compacted, read + written);
    const draft = respond(request, replies);
    replies += 1;
    const content = [...compacted, ...sign(draft.content, prefix, binding)];
    return {
      status: 200,
      body: {
        id: `msg_${replies}`,
        type: "message",
        role: "assistant",
        model: request.model,
        content,
        stop_reason: draft.stop_reason,
        usage: {
          input_tokens: 0,
          cache_read_input_tokens: read,
          cache_creation_input_tokens: written,
          output_tokens: Math.ceil(JSON.stringify(content).length / 4),
          ...(compacted.length === 0
            ? {}
            : { iterations: [compactionUsage(read + written), { type: "message", ...usageOf(read, written) }] }),
        },
        ...(dropped.length === 0
          ? {}
          : { input_transformations: dropped.map((path) => ({ type: "thinking_dropped", path, reason: "prefix_binding_mismatch" })) }),
      },
    };
  };
}

function invalid(text: string): Answer {
  return refusal(400, "invalid_request_error", text);
}

/** The blocks of a message; a text is one block. */
function blocksOf({ content }: AnthropicRequest["messages"][number]): readonly Block[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

/** Roles alternate from `user` on, no message and no text is empty, and a reply does not end with thinking or white space. */
function brokenTurns({ messages }: AnthropicRequest): string | undefined {
  const isCompacted = messages[0] !== undefined && blocksOf(messages[0])[0]?.type === "compaction";
  if (messages[0]?.role !== "user" && !isCompacted) return "messages: first message must use the user role";
  for (const [at, one] of messages.entries()) {
    const blocks = blocksOf(one);
    const last = blocks.at(-1);
    if (last === undefined) return `messages.${at}: all messages must have non-empty content`;
    if (at > 0 && one.role === messages[at - 1]?.role) return `messages.${at}: roles must alternate`;
    const blank = blocks.findIndex(({ type, text }) => type === "text" && String(text).trim() === "");
    if (blank >= 0) return `messages.${at}.content.${blank}: text content blocks must contain non-whitespace text`;
    if (one.role === "assistant" && isThinking(last)) return `messages.${at}: The final block in an assistant message cannot be thinking`;
    if (at === messages.length - 1 && one.role === "assistant" && /\s$/.test(String(last["text"] ?? "")))
      return "messages: final assistant content cannot end with trailing whitespace";
  }
  return undefined;
}

/** Each call has one result in the next message, before anything else in it; no result stands elsewhere; ids are unique. */
function brokenPairs({ messages }: AnthropicRequest): string | undefined {
  const seen = new Set<unknown>();
  let open: readonly unknown[] = [];
  for (const [at, one] of messages.entries()) {
    const blocks = blocksOf(one);
    const results = blocks.filter(({ type }) => type === "tool_result");
    const answered = results.map((result) => result["tool_use_id"]);
    if (results.some((result, nth) => blocks[nth] !== result)) return `messages.${at}: tool_result blocks must come first`;
    const missing = open.find((id) => !answered.includes(id));
    if (missing !== undefined) return `messages.${at}: tool_use ids were found without tool_result blocks immediately after: ${missing}`;
    const extra = answered.find((id, nth) => !open.includes(id) || answered.indexOf(id) !== nth);
    if (extra !== undefined) return `messages.${at}: unexpected tool_use_id found in tool_result blocks: ${extra}`;
    open = one.role === "assistant" ? blocks.filter(({ type }) => type === "tool_use").map((call) => call["id"]) : [];
    for (const id of open) {
      if (seen.has(id)) return `messages.${at}: tool_use ids must be unique: ${id}`;
      seen.add(id);
    }
  }
  return open.length > 0 ? `messages: tool_use ids were found without tool_result blocks at the end: ${open[0]}` : undefined;
}

/** True for thinking that is signed, whether its text is shown or hidden. */
function isThinking({ type }: Block): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

interface Judged {
  readonly prefix: Prefix;
  /** The first block that is not valid, in the words of the API. */
  readonly problem?: string;
  /** The paths of the blocks that were dropped, because the request asks for that. */
  readonly dropped: readonly string[];
}

/** Reads the request block by block, and checks each signed block against what stands before it. */
function judgeThinking(request: AnthropicRequest, account: string): Judged {
  const drops = request.thinking?.block_binding?.prefix_mismatch_behavior === "drop_block";
  let prefix = openingPrefix(request);
  const dropped: string[] = [];
  for (const { role, part, path } of partsOf(request)) {
    const problem = isThinking(part) ? mismatch(part, prefix, { model: request.model, account }) : undefined;
    if (problem !== undefined && !drops) return { prefix, dropped, problem: `${path}: ${problem}` };
    if (problem !== undefined) dropped.push(path);
    else if (part.type === "compaction") prefix = prefixBehind(part, prefix, request);
    else prefix.add(role, part);
  }
  return { prefix, dropped };
}

/** The blocks of all messages, in order. */
function partsOf({ messages }: AnthropicRequest) {
  return messages.flatMap((one, at) =>
    blocksOf(one).map((part, nth) => ({ role: one.role, part, at, nth, path: `messages.${at}.content.${nth}` })),
  );
}

/** A compaction stands for what it summarized: what was signed behind that stays valid, if system and tools are the same. */
function prefixBehind(part: Block, prefix: Prefix, request: AnthropicRequest): Prefix {
  const claims = part["content"] === null ? undefined : unseal(String(part["signature"]));
  if (claims === undefined) return prefix;
  const opening = openingPrefix(request);
  return claims["opening"] === opening.id ? new Prefix(String(claims["prefix"])) : opening.add(part);
}

/** What stands before the first message. */
function openingPrefix({ model, system, tools }: AnthropicRequest): Prefix {
  return new Prefix(model).add("tools", tools ?? []).add("system", system ?? "");
}

interface Binding {
  readonly model: string;
  readonly account: string;
}

function mismatch(part: Block, prefix: Prefix, { model, account }: Binding): string | undefined {
  const claims = unseal(String(part["signature"] ?? part["data"]));
  if (claims === undefined || claims["text"] !== (part["thinking"] ?? null)) return "Invalid `signature` in `thinking` block";
  if (claims["model"] !== model) return "Invalid signature in thinking block. The block was produced by another model.";
  if (claims["account"] !== account) return "Invalid signature in thinking block. The block belongs to another organization.";
  if (claims["prefix"] !== prefix.id) return "Invalid signature in thinking block. The block is bound to a different conversation.";
  return undefined;
}

/** Signs the thinking of a reply over all that stands before it, in the request and in the reply. `prefix` ends behind the reply. */
function sign(content: readonly Block[], prefix: Prefix, { model, account }: Binding): readonly Block[] {
  return content.map((part) => {
    const sealed = isThinking(part) ? seal({ model, account, prefix: prefix.id, text: part["thinking"] ?? null }) : undefined;
    const signed = sealed === undefined ? part : { ...part, ...(part.type === "thinking" ? { signature: sealed } : { data: sealed }) };
    prefix.add("assistant", signed);
    return signed;
  });
}

const ON_DEMAND_BETA = "compact-2026-09-04";
const THRESHOLD_BETA = "compact-2026-01-12";

/** What is wrong with the compaction that a request asks for, or with the blocks that it sends back; the names are those of the API. */
function brokenCompaction(request: AnthropicRequest, account: string, betas: readonly string[]): string | undefined {
  const asked = brokenCompactionRequest(request, betas);
  if (asked !== undefined) return asked;
  for (const { role, part, at, nth, path } of partsOf(request)) {
    if (part.type !== "compaction") continue;
    if (role !== "assistant") return `${path}: compaction blocks are blocks of the assistant`;
    const problem = brokenBlock(part, at + nth, { model: request.model, account });
    if (problem !== undefined) return `${path}${problem}`;
  }
  return undefined;
}

function brokenCompactionRequest({ compaction, context_management: management, messages }: AnthropicRequest, betas: readonly string[]) {
  const [isAsked, isManaged] = [compaction != null, management != null];
  if (isAsked && isManaged) return "compaction: cannot be combined with context_management";
  if (isAsked && !betas.includes(ON_DEMAND_BETA)) return `compaction: Extra inputs are not permitted (beta ${ON_DEMAND_BETA})`;
  if (isManaged && !betas.includes(THRESHOLD_BETA)) return `context_management: Extra inputs are not permitted (beta ${THRESHOLD_BETA})`;
  return isAsked && messages.length < 2 ? "CompactionNothingToSummarize: the conversation has nothing to summarize" : undefined;
}

/** `place`: 0 for the first block of the request. */
function brokenBlock(part: Block, place: number, { model, account }: Binding): string | undefined {
  // A client that sends the null back is refused, although the documentation allows it.
  if (part["encrypted_content"] === null) return ".encrypted_content: Input should be a valid string";
  if (part["content"] === null) return undefined;
  const claims = unseal(String(part["signature"]));
  if (claims?.["of"] !== "compaction" || claims["account"] !== account) return ": CompactionSignatureInvalid";
  if (claims["model"] !== model) return ": CompactionSignatureInvalid: another model wrote the block";
  if (claims["content"] !== part["content"]) return ": CompactionContentMismatch";
  if (JSON.stringify(part["tool_changes"]) !== "[]") return ": CompactionToolChangesMismatch";
  return claims["by"] === "summarize" && place > 0 ? ": CompactionBlockMisplaced: the block must come first" : undefined;
}

/** True if the request asks for a compaction, or its prefix has reached the threshold. */
function compactsNow({ compaction, context_management: management }: AnthropicRequest, prefix: Prefix): boolean {
  const threshold = management?.edits[0]?.trigger.value;
  return compaction != null || (threshold !== undefined && (prefix.boundaries.at(-1)?.tokens ?? 0) >= threshold);
}

function makeCompaction(request: AnthropicRequest, prefix: Prefix, account: string): Block {
  const content = `Summary of ${request.messages.length} messages, written by the server. ${request.compaction?.instructions ?? ""}`.trim();
  const by = request.compaction == null ? "threshold" : "summarize";
  const claims = { of: "compaction", by, model: request.model, account, content, prefix: prefix.id, opening: openingPrefix(request).id };
  const signed = { type: "compaction", content, signature: seal(claims), tool_changes: [] };
  return by === "threshold" ? { ...signed, encrypted_content: null } : signed;
}

function usageOf(read: number, written: number) {
  return { input_tokens: 0, cache_read_input_tokens: read, cache_creation_input_tokens: written, output_tokens: 0 };
}

function compactionUsage(tokens: number) {
  return { type: "compaction", ...usageOf(0, 0), input_tokens: tokens, output_tokens: 40 };
}

function onlyCompaction(model: string, content: readonly Block[], tokens: number): Answer {
  const usage = { ...usageOf(0, 0), iterations: [compactionUsage(tokens)] };
  return {
    status: 200,
    body: { id: "msg_compaction", type: "message", role: "assistant", model, content, stop_reason: "compaction", usage },
  };
}
