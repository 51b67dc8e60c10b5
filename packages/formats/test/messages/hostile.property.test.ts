import { isObject } from "@bough/session-core/wire";
import { test } from "vitest";
import { nothingIsLostInDocuments } from "../world/mutated-documents.js";
import { nothingIsLost } from "../world/mutated-files.js";
import { OPEN_AI } from "./sample.js";

const MESSAGES = [
  ...OPEN_AI.slice(0, 4),
  {
    role: "assistant",
    content: [
      { type: "thinking", thinking: "Hm.", signature: "c2ln" },
      { type: "tool_use", id: "b", name: "read", input: {} },
    ],
    usage: { input_tokens: 3 },
  },
  { role: "user", content: [{ type: "tool_result", tool_use_id: "b", content: "no", is_error: true }] },
  {
    id: "m",
    role: "assistant",
    parts: [{ type: "step-start" }, { type: "tool-read", toolCallId: "c", state: "output-available", input: {}, output: { a: 1 } }],
  },
  { role: "user", content: "Thanks." },
];

const lines = MESSAGES.map((message) => JSON.stringify(message));

test("of any mutated file of messages every line is an entry, merged or reported; errors are typed; a second import adds nothing", async () => {
  const talks = [
    MESSAGES,
    MESSAGES.slice(3),
    MESSAGES.slice(5),
    MESSAGES.slice(2),
    { messages: MESSAGES.slice(4) },
    { messages: MESSAGES.slice(1) },
    { model: "m", messages: MESSAGES },
  ].map((talk) => JSON.stringify(talk));
  await nothingIsLost([
    { name: "chat.jsonl", content: Buffer.from(`${lines.join("\n")}\n`) },
    { name: "talks.jsonl", content: Buffer.from(`${talks.join("\n")}\n`) },
  ]);
});

test("of any mutated document every message is an entry, or the damage is reported", async () => {
  const corpus = [
    `[\n${lines.join(",\n")}\n]`,
    `{"model":"m","system":"s","messages":[\n${lines.join(",\n")}\n],\n"tools":[{"name":"read"}]}`,
  ];
  await nothingIsLostInDocuments(corpus, (document) => {
    const messages = isObject(document) ? document.messages : document;
    return Array.isArray(messages) ? messages : [];
  });
});
