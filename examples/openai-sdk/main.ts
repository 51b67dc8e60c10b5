// An agent on OpenAI's own SDK, on the Responses API without storage at OpenAI: encrypted reasoning, a web search that OpenAI runs, a tool, and a
// second branch. A script answers in place of the API, so that it runs without a key: leave out `apiKey` and `fetch` to use OpenAI's.
import { createCompactor } from "@bough/compaction";
import { fromOpenAiResponses, openStore, toOpenAiResponses, toolCallsOf, toolResult, userMessage } from "@bough/session-core";
import OpenAI from "openai";

const model = "gpt-6-sol";
const reasoning = (id: string) => ({ type: "reasoning", id, summary: [], encrypted_content: "gAAA" });
const message = (id: string, text: string) => ({
  type: "message",
  id,
  role: "assistant",
  content: [{ type: "output_text", text, annotations: [] }],
});
const script: object[][] = [
  [
    reasoning("rs_1"),
    { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "tab stops", queries: ["tab stops"] } },
    reasoning("rs_2"),
    { type: "function_call", id: "fc_1", call_id: "call_1", name: "read_file", arguments: '{"path":"src/lexer.ts"}', status: "completed" },
  ],
  [message("msg_1", "The lexer counts a tab as one column.")],
  [message("msg_2", "Count a tab up to the next multiple of eight.")],
  [message("msg_3", "Replace tabs before the lexer sees them.")],
];
const sent: { input: { type: string }[] }[] = [];
const openai = new OpenAI({
  apiKey: "none",
  fetch: async (_url, init) => {
    sent.push(JSON.parse(String(init?.body)));
    const usage = { input_tokens: 900, output_tokens: 40, total_tokens: 940 };
    return Response.json({ id: "resp_1", object: "response", status: "completed", model, output: script.shift(), usage });
  },
});

const tools: OpenAI.Responses.Tool[] = [
  { type: "web_search" },
  {
    type: "function",
    name: "read_file",
    description: "Reads a file.",
    parameters: { type: "object", properties: { path: { type: "string" } } },
    strict: false,
  },
];
const readFile = async ({ path }: Readonly<Record<string, unknown>>) => `${path}: column += 1; // also for a tab`;

const store = await openStore({ path: ":memory:" });
const session = await store.createSession({ title: "Tabs in the parser" });
const compactor = createCompactor({ session, contextWindow: 400_000, model: { provider: "openai", modelId: model } });

async function turn(text: string): Promise<string> {
  await session.append(userMessage(text));
  for (;;) {
    const { context } = await compactor.prepareRequest();
    const input = toOpenAiResponses<OpenAI.Responses.ResponseInputItem>(context);
    const response = await openai.responses.create({ model, store: false, include: ["reasoning.encrypted_content"], tools, ...input });
    const reply = fromOpenAiResponses(response);
    await session.append(reply);
    const calls = toolCallsOf(reply);
    if (calls.length === 0) return response.output_text;
    for (const { id, name, arguments: given } of calls) {
      await session.append(toolResult(id, await readFile(given), { toolName: name }));
    }
  }
}

await turn("Why does the parser fail on tabs?");
// Reasoning goes back with the item that followed it, without which the API rejects the request.
console.log(
  `sent back: ${sent
    .at(-1)
    ?.input.map(({ type }) => type)
    .join(", ")}`,
);

const beforeAnswer = session.leafId;
console.log(await turn("How do I repair it?"));
await session.moveLeaf(beforeAnswer);
console.log(await turn("Is there another way?"));
for (const { preview } of await session.tree.tips()) console.log(`branch: ${preview}`);
await compactor.close();
await store.close();
