// The store alone: two answers to one question are two branches, and the context of a leaf is what its model sees.
import { assistantMessage, openStore, toOpenAiChat, userMessage } from "@bough/session-core";

const store = await openStore({ path: ":memory:" });
const session = await store.createSession({ title: "Tabs in the parser" });

const question = await session.append(userMessage("Why does the parser fail on tabs?"));
await session.append(assistantMessage("The lexer counts a tab as one column."));

await session.moveLeaf(question.id);
await session.append(assistantMessage("Tabs are not in the set of blanks."));

for (const { role, content } of toOpenAiChat(await session.context())) console.log(`${role}: ${content}`);
console.log(`${(await session.tree.children(question.id)).length} answers to one question`);
await store.close();
