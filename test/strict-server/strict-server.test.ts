// The judge of the other tests is judged: a loop that sends everything back unchanged is accepted, and each broken rule is refused.
import { describe, expect, test } from "vitest";
import { anthropicRoute, type Block } from "./anthropic.js";
import { PromptCache } from "./prefix.js";
import { startStrictServer } from "./server.js";

const MODEL = "claude-fable-5-1";

interface Turn {
  readonly role: string;
  readonly content: readonly Block[];
}

interface Body {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly object[];
  readonly messages: readonly Turn[];
  readonly thinking?: object;
}

const text = (said: string): Block => ({ type: "text", text: said });

/** A loop of four requests: three replies that think and call, and what the next request would send. */
async function played() {
  const cache = new PromptCache();
  const route = anthropicRoute(
    (_request, n) => ({
      content: [
        { type: "thinking", thinking: `Thought ${n}.` },
        text(`I look at ${n}.`),
        n % 2 === 0 ? { type: "thinking", thinking: "" } : { type: "redacted_thinking" },
        { type: "tool_use", id: `toolu_${n}`, name: "read", input: { path: `${n}.ts` } },
      ],
      stop_reason: "tool_use",
    }),
    cache,
  );
  const server = await startStrictServer({ "/v1/messages": route });
  let body: Body = {
    model: MODEL,
    system: "You edit.",
    tools: [{ name: "read" }],
    messages: [{ role: "user", content: [text("Fix it.")] }],
  };
  const usages: Record<string, number>[] = [];
  for (let n = 0; n < 3; n += 1) {
    const { body: reply } = await server.post("/v1/messages", body);
    const { content, usage } = reply as { content: Block[]; usage: Record<string, number> };
    usages.push(usage);
    const result = { type: "tool_result", tool_use_id: `toolu_${n}`, content: [text(`file ${n}`)] };
    body = { ...body, messages: [...body.messages, { role: "assistant", content }, { role: "user", content: [result] }] };
  }
  const send = async (changed: object, options = {}) => {
    const { status, body: answer } = await server.post("/v1/messages", { ...body, ...changed }, options);
    return { status, answer: JSON.stringify(answer) };
  };
  /** The messages with one of them changed. */
  const withTurn = (at: number, change: (content: readonly Block[]) => readonly Block[]) =>
    body.messages.map((turn, nth) => (nth === at ? { ...turn, content: change(turn.content) } : turn));
  return { server, body, send, withTurn, usages, cache };
}

const OTHER_CONVERSATION = /Invalid signature in thinking block. The block is bound to a different conversation/;

describe("a strict server", () => {
  test("accepts a loop that sends everything back unchanged, and reads its cache", async () => {
    const { server, send, usages, cache } = await played();
    expect((await send({})).status).toBe(200);
    expect(server.refused()).toEqual([]);
    const [first, second, third] = usages;
    expect(first?.["cache_read_input_tokens"]).toBe(0);
    const total = (of: typeof first) => (of?.["cache_read_input_tokens"] ?? 0) + (of?.["cache_creation_input_tokens"] ?? 0);
    expect(second?.["cache_read_input_tokens"]).toBe(total(first));
    expect(third?.["cache_read_input_tokens"]).toBe(total(second));
    cache.clear();
    expect((await send({})).answer).toMatch(/"cache_read_input_tokens":0/);
  });

  test.each<[rule: string, place: RegExp, change: (loop: Awaited<ReturnType<typeof played>>) => object]>([
    ["another system text", /messages\.1\.content\.0/, () => ({ system: "You write." })],
    ["another tool", /messages\.1\.content\.0/, () => ({ tools: [{ name: "read" }, { name: "bash" }] })],
    ["an edited prompt", /messages\.1\.content\.0/, ({ withTurn }) => ({ messages: withTurn(0, () => [text("Fix all.")]) })],
    [
      "a pruned result",
      /messages\.3\.content\.0/,
      ({ withTurn }) => ({ messages: withTurn(2, ([result]) => [{ ...result, type: "tool_result", content: [text("[pruned]")] }]) }),
    ],
    ["a thinking block left out", /messages\.1\.content\.1/, ({ withTurn }) => ({ messages: withTurn(1, (blocks) => blocks.slice(1)) })],
    [
      "a thinking block moved",
      /messages\.1\.content\.1/,
      ({ withTurn }) => ({ messages: withTurn(1, ([a, b, c, ...rest]) => [b, a, c, ...rest].filter((one) => one !== undefined)) }),
    ],
    ["the oldest turns dropped", /messages\.1\.content\.0/, ({ body }) => ({ messages: [body.messages[0], ...body.messages.slice(3)] })],
  ])("refuses %s, and names the first block behind it", async (_rule, place, change) => {
    const loop = await played();
    const { status, answer } = await loop.send(change(loop));
    expect(status).toBe(400);
    expect(answer).toMatch(place);
    expect(answer).toMatch(OTHER_CONVERSATION);
  });

  test.each<[rule: string, problem: RegExp, change: (loop: Awaited<ReturnType<typeof played>>) => object, account?: string]>([
    [
      "a changed thinking text",
      /Invalid `signature`/,
      ({ withTurn }) => ({ messages: withTurn(1, ([first, ...rest]) => [{ ...first, type: "thinking", thinking: "Mine." }, ...rest]) }),
    ],
    ["another model", /produced by another model/, () => ({ model: "claude-opus-5-5" })],
    ["another account", /another organization/, () => ({}), "account-2"],
    ["a call without its result", /without tool_result/, ({ withTurn }) => ({ messages: withTurn(2, () => [text("Go on.")]) })],
    [
      "a result without its call",
      /unexpected tool_use_id/,
      ({ withTurn }) => ({ messages: withTurn(0, (own) => [{ type: "tool_result", tool_use_id: "x", content: [] }, ...own]) }),
    ],
    [
      "a reply that ends with thinking",
      /cannot be thinking/,
      ({ withTurn }) => ({ messages: withTurn(1, (blocks) => blocks.slice(0, 1)) }),
    ],
    ["a blank text", /non-whitespace/, ({ withTurn }) => ({ messages: withTurn(0, () => [text(" ")]) })],
    ["two turns of one role", /alternate/, ({ body }) => ({ messages: [...body.messages, { role: "user", content: [text("And?")] }] })],
    ["a conversation that the assistant opens", /first message/, ({ body }) => ({ messages: body.messages.slice(1) })],
  ])("refuses %s", async (_rule, problem, change, account = "account-1") => {
    const loop = await played();
    const { status, answer } = await loop.send(change(loop), { account });
    expect(status).toBe(400);
    expect(answer).toMatch(problem);
  });

  test("drops the blocks behind a change, and names them, where the request asks for that", async () => {
    const loop = await played();
    const { status, answer } = await loop.send({
      system: "You write.",
      thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } },
    });
    expect(status).toBe(200);
    const paths = [...answer.matchAll(/"path":"(messages\.\d+\.content\.\d+)"/g)].map(([, path]) => path);
    expect(paths).toEqual([1, 3, 5].flatMap((at) => [`messages.${at}.content.0`, `messages.${at}.content.2`]));
  });
});
