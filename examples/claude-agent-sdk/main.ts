// Sessions of the Claude Agent SDK in a store. The transcript is scripted, so that it runs without a key and without Claude Code: an agent
// passes `sessionStore` to `query({ prompt, options: { sessionStore } })`.
import { forkSession, getSessionMessages, listSessions, renameSession } from "@anthropic-ai/claude-agent-sdk";
import { BoughSessionStore } from "@bough/adapters/claude-agent-sdk";
import { openStore } from "@bough/session-core";

const sessionId = "11111111-2222-4333-8444-555555555555";
const dir = "/home/ada/parser";
const uuid = (number: number) => `00000000-0000-4000-8000-00000000000${number}`;
const line = (number: number, type: string, message: object) => ({
  ...{
    type,
    uuid: uuid(number),
    parentUuid: number === 1 ? null : uuid(number - 1),
    isSidechain: false,
    sessionId,
    cwd: dir,
    version: "2.1.44",
  },
  ...{ timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, number)).toISOString(), message },
});
const reply = (number: number, id: string, block: object, stop_reason: string | null = null) =>
  line(number, "assistant", {
    id,
    role: "assistant",
    model: "claude-x",
    content: [block],
    stop_reason,
    usage: { input_tokens: 900, output_tokens: 40 },
  });
const input = { file_path: "/home/ada/parser/lexer.ts" };

const store = await openStore({ path: ":memory:" });
const sessionStore = new BoughSessionStore(store);

// What the SDK appends while an agent runs: a reply arrives in several lines.
const key = { projectKey: "-home-ada-parser", sessionId };
await sessionStore.append(key, [line(1, "user", { role: "user", content: "Why does the parser fail on tabs?" })]);
await sessionStore.append(key, [reply(2, "m1", { type: "text", text: "I look at the lexer." })]);
await sessionStore.append(key, [reply(3, "m1", { type: "tool_use", id: "c1", name: "Read", input }, "tool_use")]);
const result = { type: "tool_result", tool_use_id: "c1", content: "const BLANKS = [' '];" };
await sessionStore.append(key, [line(4, "user", { role: "user", content: [result] })]);
await sessionStore.append(key, [reply(5, "m2", { type: "text", text: "A tab is not in the set of blanks." }, "end_turn")]);

// The functions of the SDK work on the store.
await renameSession(sessionId, "Tabs in the parser", { dir, sessionStore });
await forkSession(sessionId, { dir, sessionStore, title: "Another way" });
const titles = (await listSessions({ dir, sessionStore })).map(({ summary }) => summary);
console.log(`sessions: ${titles.sort().join(", ")}`);
console.log(`messages: ${(await getSessionMessages(sessionId, { dir, sessionStore })).length}`);

// And everything that a store can do works on the sessions of the SDK.
await sessionStore.flush();
const session = await store.openSession(sessionId);
for (const { type, role, preview } of await session.tree.outline()) console.log(`${role ?? type}: ${preview}`);
console.log(`found: ${(await session.search({ query: "set of blanks", limit: 1 })).hits[0]?.entryId}`);
await store.close();
