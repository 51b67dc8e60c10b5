import { assistantMessage, userMessage } from "@bough/session-core";

/** Control sequences of terminals. Bough must never print them. */
const SEQUENCES = [
  "\u001b[31;5;8m",
  "\u001b]0;title\u0007",
  "\u001b]52;c;cHduZWQ=\u0007",
  "\u009b2J",
  "\u0090q\u009c",
  "\u001bc",
  "\u001b[6n",
  "\u001b]8;;http://e/\u001b\\link",
];
const INVISIBLE = [
  "\u202e",
  "\u2066",
  "\u200b",
  "\u200d",
  "\u0000",
  "\u0008",
  "\u007f",
  "\r",
  "\u0085",
  "\u2028",
  "\u{e0041}",
  "\ufeff",
  "\ud800",
];
const MARKUP = ["|", "`*_", "<script>alert(1)</script>", "](javascript:alert(1))", "![x](http://e/x.png)", "```", "---", "# "];

/** A text of all of these in an order that the seed gives, around words that a search finds. */
export function hostileText(random) {
  const parts = [...SEQUENCES, ...INVISIBLE, ...MARKUP];
  for (let at = parts.length - 1; at > 0; at -= 1) {
    const other = random.below(at + 1);
    [parts[at], parts[other]] = [parts[other], parts[at]];
  }
  return { text: `X RED ${parts.join(random.pick(["", " ", "a"]))} END`, sequences: SEQUENCES };
}

/** Puts a session of the id "hostile" into a store, with the text in every text field. */
export async function fillWith(store, { text }) {
  const session = await store.createSession({
    id: "hostile",
    title: text,
    cwd: `/tmp/${text.replaceAll("\u0000", "")}`,
    metadata: { [text]: text },
  });
  const add = (entry) => session.append(entry);
  await add({ type: "message", message: { role: "system", content: text } });
  await add(userMessage(`${text}\n${text}`));
  const kept = await add(userMessage(text));
  await add({ type: "message", message: answer(text) });
  for (const id of [`c${text}`, "edit1", "write1", "bash1"]) await add(result(id, text));
  await add({ type: "message", message: { role: "bashExecution", command: text, output: text, exitCode: 1 } });
  await add({ type: "message", message: { role: "custom", customType: text, content: text, display: true } });
  await add({ type: "custom_message", customType: text, content: text, display: true });
  await add({ type: "custom", customType: text, data: text });
  await add({ type: "model_change", provider: text, modelId: text });
  await add({ type: "thinking_level_change", thinkingLevel: text });
  await add({ type: "foreign", originalType: text, raw: { x: text } });
  const files = { readFiles: [text], modifiedFiles: [text] };
  const fields = { summary: text, title: text, shortSummary: text, trigger: text, instructions: text, details: files };
  await add({ type: "compaction", ...fields, firstKeptEntryId: kept.id, tokensBefore: 10, tokensAfter: 2 });
  await add({ type: "context_edit", targetId: kept.id, replacement: { content: text } });
  const left = session.leafId;
  await session.moveLeaf(kept.id);
  await add({ type: "branch_summary", summary: text, fromId: left, details: files });
  await add(assistantMessage(text, { model: text }));
  await session.labels.set(kept.id, text);
  await session.values.set("k", text);
  await session.moveLeaf(left);
}

function answer(text) {
  const edits = { path: text, edits: [{ oldText: text, newText: text }], file_path: text, old_string: text, new_string: text };
  const content = [
    { type: "thinking", thinking: text, thinkingSignature: text },
    { type: "text", text },
    { type: "toolCall", id: `c${text}`, name: `n${text}`, arguments: { path: text, command: text, [text]: text } },
    { type: "toolCall", id: "edit1", name: "edit", arguments: edits },
    { type: "toolCall", id: "write1", name: "write", arguments: { path: text, content: text } },
    { type: "toolCall", id: "bash1", name: "bash", arguments: { command: text } },
    { type: "foreign", originalType: text, raw: { a: text } },
  ];
  return { role: "assistant", provider: text, model: text, stopReason: text, errorMessage: text, usage: { input: 1, output: 2 }, content };
}

function result(toolCallId, text) {
  const content = [{ type: "text", text }];
  return {
    type: "message",
    message: { role: "toolResult", toolCallId, toolName: text, isError: true, content, details: { diff: text, path: text } },
  };
}

/** The same as files of agents, with broken lines; by file name. */
export function sessionFiles({ text }) {
  const pi = [
    { type: "session", version: 3, id: `pi${text}`, timestamp: "2025-01-01T00:00:00Z", cwd: text, parentSession: text },
    { type: "message", id: text, parentId: text, timestamp: text, message: { role: "user", content: text } },
    { type: text, id: "z", parentId: `nope${text}` },
    { type: "session_info", id: "q", parentId: "z", name: text },
    { type: "label", id: "l", parentId: "q", targetId: `none${text}`, label: text },
    {
      type: "message",
      id: "m2",
      parentId: "q",
      message: { role: "assistant", content: [{ type: text }, { type: "toolCall", id: text, name: text, arguments: text }], usage: text },
    },
    { type: "compaction", id: "c2", parentId: "m2", summary: text, firstKeptEntryId: text },
  ];
  const bough = [
    { type: "bough-session", version: 1, id: "b-h", title: text, cwd: text },
    {
      type: "entry",
      id: "e1",
      parentId: `nope${text}`,
      createdAtMs: 1,
      entry: { type: "message", message: { role: "user", content: text } },
    },
    { type: "entry", id: text, parentId: null, entry: {} },
    { type: "label", entryId: "e1", label: text },
    { type: "value", key: text, value: text },
  ];
  const lines = (records) => `${records.map((record) => JSON.stringify(record)).join("\n")}\nno JSON ${text.replaceAll("\n", "")}\n`;
  return { "pi\u001b[31;5;8m\u202e.jsonl": lines(pi), "bough.jsonl": lines(bough) };
}
