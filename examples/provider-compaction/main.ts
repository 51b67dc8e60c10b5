// Claude compacts a session itself; GPT goes on from the text of the summary; Claude gets its own block back. A server on this machine plays
// Anthropic, so that it runs without a key: leave out `baseURL` to use Anthropic's.
import { once } from "node:events";
import { createServer } from "node:http";
import { anthropicCompaction, createCompactor } from "@bough/compaction";
import { assistantMessage, openStore, toAnthropic, toOpenAiChat, userMessage } from "@bough/session-core";

const claude = { provider: "anthropic", modelId: "claude-opus-5-5" };
const block = { type: "compaction", content: "The lexer counts a tab as one column; tests cover it.", signature: "EqQB" };
const reply = { model: claude.modelId, stop_reason: "compaction", content: [block], usage: { input_tokens: 900, output_tokens: 20 } };
const server = createServer((_request, response) => response.end(JSON.stringify(reply))).listen(0, "127.0.0.1");
await once(server, "listening");
const address = server.address();
const baseURL = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;

const store = await openStore({ path: ":memory:" });
const session = await store.createSession({ title: "Tabs in the parser" });
await session.append(userMessage(`Why does the parser fail on tabs? ${"Here is the lexer. ".repeat(200)}`));
await session.append(assistantMessage("The lexer counts a tab as one column.", { provider: claude.provider, model: claude.modelId }));

const summarizer = anthropicCompaction({ baseURL, apiKey: "key" });
const compactor = createCompactor({ session, contextWindow: 200_000, model: claude, summarizer, settings: { keep: { recentTokens: 0 } } });
const done = await compactor.compact();
console.log(done.kind === "compacted" ? `written by: ${done.method}` : done.kind);

const first = (messages: readonly { readonly role: string; readonly content: unknown }[]) => JSON.stringify(messages[0]).slice(0, 90);
console.log(`to Claude: ${first(toAnthropic(await session.context()).messages)}`);
await session.append({ type: "model_change", provider: "openai", modelId: "gpt-6-sol" });
console.log(`to GPT: ${first(toOpenAiChat(await session.context()))}`);
await session.append({ type: "model_change", ...claude });
console.log(`to Claude again: ${first(toAnthropic(await session.context()).messages)}`);

await compactor.undoCompaction();
console.log(`undone: ${(await session.context()).messages.length} messages`);
await compactor.close();
await store.close();
server.close();
