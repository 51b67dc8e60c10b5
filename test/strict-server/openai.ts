// OpenAI's Responses API as its documentation describes it, for what Bough promises: pairs of calls and outputs, encrypted reasoning, and
// the API's own compaction in its three forms. xAI's API has the same items.
import { z } from "zod";
import { seal, unseal } from "./prefix.js";
import { type Answer, type Route, refusal } from "./server.js";

const item = z.looseObject({ type: z.string().default("message") });
const body = z.looseObject({
  model: z.string(),
  input: z.array(item),
  instructions: z.string().nullish(),
  context_management: z.array(z.strictObject({ type: z.literal("compaction"), compact_threshold: z.number() })).nullish(),
});

type Item = z.infer<typeof item>;
type OpenAiRequest = z.infer<typeof body>;

/** What the model says to a request; `n` counts the replies from 0. */
type Respond = (request: OpenAiRequest, n: number) => readonly Item[];

/** The Responses API: the routes of a response and of `/responses/compact`. */
export function openAiRoutes(respond: Respond, base = "/v1"): Readonly<Record<string, Route>> {
  let replies = 0;
  const judged =
    (answer: (request: OpenAiRequest, account: string) => Answer): Route =>
    (given, { account }) => {
      const parsed = body.safeParse(given);
      if (!parsed.success) return invalid(z.prettifyError(parsed.error));
      const broken = brokenItems(parsed.data, account) ?? brokenPairs(parsed.data);
      return broken === undefined ? answer(parsed.data, account) : invalid(broken);
    };
  return {
    [`${base}/responses`]: judged((request, account) => {
      const usage = usageOf(request);
      const compacted = isTriggered(request) || usage.input_tokens >= (request.context_management?.[0]?.compact_threshold ?? Infinity);
      const items = compacted ? [makeCompaction(request, account)] : [];
      const output = isTriggered(request) ? items : [...items, ...respond(request, replies++)];
      return { status: 200, body: { id: `resp_${replies}`, object: "response", model: request.model, status: "completed", output, usage } };
    }),
    [`${base}/responses/compact`]: judged((request, account) => {
      const kept = request.input.filter((one) => one.type === "message" && one["role"] === "user").map(withParts);
      const output = [...kept, makeCompaction(request, account)];
      return { status: 200, body: { id: "comp_1", object: "response.compaction", created_at: 0, output, usage: usageOf(request) } };
    }),
  };
}

/** A message as the API returns it: its content is a list of parts. */
function withParts(one: Item): Item {
  return typeof one["content"] === "string" ? { ...one, content: [{ type: "input_text", text: one["content"] }] } : one;
}

function invalid(text: string): Answer {
  return refusal(400, "invalid_request_error", text);
}

function isTriggered({ input }: OpenAiRequest): boolean {
  return input.at(-1)?.type === "compaction_trigger";
}

function usageOf(request: OpenAiRequest) {
  const input_tokens = Math.ceil(JSON.stringify(request.input).length / 4);
  return { input_tokens, output_tokens: 40, total_tokens: input_tokens + 40 };
}

const TYPES = ["message", "reasoning", "function_call", "function_call_output", "compaction", "compaction_trigger"];

/** Items of unknown types, encrypted content of another model or account, and a trigger that is not the last item. */
function brokenItems({ input, model }: OpenAiRequest, account: string): string | undefined {
  if (input.length === 0) return "input: must not be empty";
  for (const [at, one] of input.entries()) {
    const isLast = at === input.length - 1;
    if (!TYPES.includes(one.type)) return `input[${at}].type: unknown item type ${one.type}`;
    if (one.type === "compaction_trigger" && !isLast) return `input[${at}]: compaction_trigger must be the final item`;
    if (one.type === "reasoning" && isLast) return `input[${at}]: reasoning without its following item`;
    const problem = one.type === "compaction" || one.type === "reasoning" ? brokenSeal(one, { model, account }) : undefined;
    if (problem !== undefined) return `input[${at}]${problem}`;
  }
  return undefined;
}

function brokenSeal(one: Item, { model, account }: { readonly model: string; readonly account: string }): string | undefined {
  const claims = unseal(String(one["encrypted_content"]));
  if (claims === undefined || claims["of"] !== one.type) return ".encrypted_content: could not be decrypted";
  if (claims["account"] !== account || claims["model"] !== model) return ".encrypted_content: made by another model or account";
  return claims["id"] === one["id"] ? undefined : ".id: does not belong to the encrypted content";
}

/** Each call has one output behind it, and each output its call before it, in the input or in what was compacted. */
function brokenPairs({ input }: OpenAiRequest): string | undefined {
  const open = new Set<unknown>();
  for (const [at, one] of input.entries()) {
    if (one.type === "function_call") open.add(one["call_id"]);
    if (one.type === "function_call_output" && !open.delete(one["call_id"]))
      return `input[${at}]: no tool call found for ${one["call_id"]}`;
  }
  return open.size > 0 ? `input: no tool output found for ${[...open][0]}` : undefined;
}

let made = 0;

function makeCompaction({ model, input }: OpenAiRequest, account: string): Item {
  made += 1;
  const id = `cmp_${made}`;
  return {
    type: "compaction",
    id,
    encrypted_content: seal({ of: "compaction", id, model, account, items: input.length }),
    created_by: "server",
  };
}
