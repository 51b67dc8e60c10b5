// An agent on Anthropic's own SDK: thinking, a tool, and a second branch. A script answers in place of the API, so that it runs without a key:
// leave out `apiKey` and `fetch` to use Anthropic's.
import Anthropic from "@anthropic-ai/sdk";
import { createCompactor } from "@bough/compaction";
import { fromAnthropic, openStore, toAnthropic, toolCallsOf, toolResult, userMessage } from "@bough/session-core";

const model = "claude-opus-5-5";
const answer = (text: string) => ({ content: [{ type: "text", text }], stop_reason: "end_turn" });
const script: object[] = [
  {
    content: [
      { type: "thinking", thinking: "Read the lexer first.", signature: "EqQB" },
      { type: "tool_use", id: "toolu_1", name: "read_file", input: { path: "src/lexer.ts" } },
    ],
    stop_reason: "tool_use",
  },
  answer("The lexer counts a tab as one column."),
  answer("Count a tab up to the next multiple of eight."),
  answer("Replace tabs before the lexer sees them."),
];
const sent: { messages: { role: string; content: { type: string }[] }[] }[] = [];
const anthropic = new Anthropic({
  apiKey: "none",
  fetch: async (_url, init) => {
    sent.push(JSON.parse(String(init?.body)));
    return Response.json({ type: "message", role: "assistant", model, usage: { input_tokens: 900, output_tokens: 40 }, ...script.shift() });
  },
});

const tools: Anthropic.Tool[] = [
  { name: "read_file", description: "Reads a file.", input_schema: { type: "object", properties: { path: { type: "string" } } } },
];
const readFile = async ({ path }: Readonly<Record<string, unknown>>) => `${path}: column += 1; // also for a tab`;

const store = await openStore({ path: ":memory:" });
const session = await store.createSession({ title: "Tabs in the parser" });
const compactor = createCompactor({ session, contextWindow: 200_000, model: { provider: "anthropic", modelId: model } });

async function turn(text: string): Promise<string> {
  await session.append(userMessage(text));
  for (;;) {
    const { context } = await compactor.prepareRequest();
    const request = { model, max_tokens: 8_192, tools, ...toAnthropic<Anthropic.MessageParam>(context) };
    const message = await anthropic.messages.create(request);
    const reply = fromAnthropic(message);
    await session.append(reply);
    const calls = toolCallsOf(reply);
    if (calls.length === 0) return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    for (const { id, name, arguments: input } of calls) {
      await session.append(toolResult(id, await readFile(input), { toolName: name }));
    }
  }
}

await turn("Why does the parser fail on tabs?");
// The signed thinking goes back in front of its call, without which the API rejects the request.
console.log(
  `sent back: ${sent
    .at(-1)
    ?.messages[1]?.content.map(({ type }) => type)
    .join(", ")}`,
);

const beforeAnswer = session.leafId;
console.log(await turn("How do I repair it?"));
await session.moveLeaf(beforeAnswer);
console.log(await turn("Is there another way?"));
for (const { preview } of await session.tree.tips()) console.log(`branch: ${preview}`);
await compactor.close();
await store.close();
