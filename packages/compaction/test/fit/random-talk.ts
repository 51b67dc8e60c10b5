import type { AssistantBlock, ContentBlock, ContextMessage } from "@bough/session-core";
import fc from "fast-check";
import type { Talk } from "./conversation.js";

// Texts that are cut anywhere: pairs, halves of pairs, blanks, long runs.
const words = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.tuple(fc.constantFrom("x", "😀", "\ud83d", "word ", "\n"), fc.nat({ max: 900 })).map(([unit, times]) => `t${unit.repeat(times)}`),
);
const said: fc.Arbitrary<string | ContentBlock[]> = fc.oneof(
  words,
  fc.array(
    fc.oneof(
      words.map((text): ContentBlock => ({ type: "text", text })),
      fc.nat({ max: 40 }).map((size): ContentBlock => ({ type: "image", data: "AAAA".repeat(size), mimeType: "image/png" })),
      fc.string({ maxLength: 20 }).map((text): ContentBlock => ({ type: "foreign", originalType: "json", raw: { text } })),
    ),
    { maxLength: 4 },
  ),
);
const thinking = words.map((text): AssistantBlock => ({ type: "thinking", thinking: text, thinkingSignature: "c2ln" }));

/** What a step of a conversation adds; ids of calls repeat, results come late, twice, for nothing or not at all. */
const step = fc.oneof(
  { weight: 3, arbitrary: said.map((content) => ({ kind: "user" as const, content })) },
  { weight: 1, arbitrary: words.map((text) => ({ kind: "bash" as const, text })) },
  { weight: 1, arbitrary: said.map((content) => ({ kind: "custom" as const, content })) },
  { weight: 1, arbitrary: words.map((text) => ({ kind: "branch" as const, text })) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("reply" as const),
      thoughts: fc.array(thinking, { maxLength: 1 }),
      text: words,
      calls: fc.array(fc.constantFrom("c1", "c2", "c3", "c4"), { maxLength: 3 }),
      tool: fc.constantFrom("bash", "read", "skill"),
      results: fc.constantFrom("all", "all", "all", "all", "reversed", "none", "first"),
      content: said,
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom("c1", "c9").map((id) => ({ kind: "stray" as const, id })) },
);

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

function messagesOf(one: Step): readonly ContextMessage[] {
  switch (one.kind) {
    case "user":
      return [{ role: "user", content: one.content }];
    case "bash":
      return [{ role: "bashExecution", command: "make", output: one.text }];
    case "custom":
      return [{ role: "custom", customType: "note", content: one.content }];
    case "branch":
      return [{ role: "branchSummary", summary: one.text, fromId: null }];
    case "stray":
      return [{ role: "toolResult", toolCallId: one.id, content: "stray", isError: false }];
    case "reply":
      return reply(one);
  }
}

function reply({ thoughts, text, calls, tool, results, content }: Extract<Step, { kind: "reply" }>): readonly ContextMessage[] {
  const asked = calls.map((id): AssistantBlock => ({ type: "toolCall", id, name: tool, arguments: {} }));
  const answers = calls.map((id): ContextMessage => ({ role: "toolResult", toolCallId: id, toolName: tool, content, isError: false }));
  const given = { all: answers, reversed: answers.toReversed(), none: [], first: answers.slice(0, 1) }[results];
  return [{ role: "assistant", content: [...thoughts, { type: "text", text }, ...asked], provider: "anthropic" }, ...given];
}

/** Any conversation: with or without the summary of a compaction at its front, and not always well kept. */
export const randomTalk: fc.Arbitrary<Talk> = fc.tuple(fc.option(words), fc.array(step, { maxLength: 25 })).map(([summary, steps]) => {
  const first: ContextMessage[] = summary === null ? [] : [{ role: "compactionSummary", summary }];
  const messages = [...first, ...steps.flatMap(messagesOf)];
  return { messages, entries: messages.map((_, at) => `e${at}`) };
});
