import { expect, test } from "vitest";
import { Conversation, wordy } from "./conversation.js";

test("a session to which everything happens sends no request that a strict server refuses, and keeps its thinking", async () => {
  const conversation = await Conversation.start({ window: 32_768, settings: {}, summarizer: wordy, seed: 3 });
  for (let n = 0; n < 18; n += 1) {
    await conversation.turn(n, 5);
    await conversation.happens(n);
  }
  await conversation.turn(18);
  await conversation.close();
  expect(conversation.server.refused().map(({ body }) => body)).toEqual([]);
  expect(await conversation.compactions()).toBeGreaterThan(0);
  expect(conversation.thinkingSent).toBeGreaterThan(conversation.server.exchanges.length);
});

test("the same session is refused where the rule is switched off", async () => {
  const settings = { request: { boundThinking: "never" } } as const;
  const conversation = await Conversation.start({ window: 32_768, settings, summarizer: wordy, seed: 3 });
  for (let n = 0; n < 6; n += 1) {
    await conversation.turn(n, 5);
    await conversation.happens(n);
  }
  await conversation.close();
  expect(JSON.stringify(conversation.server.refused())).toMatch("bound to a different conversation");
});
