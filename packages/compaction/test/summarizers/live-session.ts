import {
  assistantMessage,
  buildSessionContext,
  openStore,
  type SessionContext,
  systemMessage,
  toolResult,
  userMessage,
} from "@bough/session-core";
import { onTestFinished } from "vitest";

/** The live request of an agent in the middle of its work: instructions, a call with its result, thoughts, characters of every length. */
export async function liveContext(): Promise<SessionContext> {
  const store = await openStore({ path: ":memory:" });
  onTestFinished(() => store.close());
  const session = await store.createSession({});
  await session.append(systemMessage("You are an agent. Ünïcode 😀."));
  await session.append(userMessage("Build a parser for grüße.txt"));
  const call = { type: "toolCall", id: "call_1", name: "read", arguments: { path: "grüße.txt", lines: [1, 2] } } as const;
  await session.append(assistantMessage([{ type: "thinking", thinking: "I must read it." }, { type: "text", text: "Reading." }, call]));
  await session.append(toolResult("call_1", 'line "1"\n\tline 2 \\ 漢', { toolName: "read" }));
  await session.append(assistantMessage("It has two lines."));
  await session.append(userMessage("Now write it."));
  return buildSessionContext(session);
}
