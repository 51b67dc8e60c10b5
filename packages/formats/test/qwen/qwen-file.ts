/** The session whose file a test writes. */
export const SESSION = "31111111-2222-4333-8444-555555555555";

/** The path of its file below the home folder. */
export const PATH = `.qwen/projects/-work/chats/${SESSION}.jsonl`;

let tick = 0;

export function record(type: string, uuid: string, parentUuid: string | null, rest: object): Record<string, unknown> {
  tick += 1;
  const timestamp = new Date(1_790_000_000_000 + tick * 1_000).toISOString();
  return { uuid, parentUuid, sessionId: SESSION, timestamp, type, cwd: "/work", version: "0.24.4", gitBranch: "main", ...rest };
}

export const user = (uuid: string, parent: string | null, text: string, rest: object = {}) =>
  record("user", uuid, parent, { message: { role: "user", parts: [{ text }] }, ...rest });

const usage = {
  promptTokenCount: 1052,
  candidatesTokenCount: 21,
  thoughtsTokenCount: 4,
  totalTokenCount: 1077,
  cachedContentTokenCount: 51,
};

export const reply = (uuid: string, parent: string, parts: readonly object[], rest: object = {}) =>
  record("assistant", uuid, parent, { model: "qwen3", message: { role: "model", parts }, usageMetadata: usage, ...rest });

const call = (id: string, command = "ls") => ({ functionCall: { id, name: "run_shell_command", args: { command } } });

const result = (uuid: string, parent: string, id: string, output: string, status = "success") =>
  record("tool_result", uuid, parent, {
    message: { role: "user", parts: [{ functionResponse: { id, name: "run_shell_command", response: { output } } }] },
    toolCallResult: { callId: id, status, resultDisplay: output },
  });

export const system = (uuid: string, parent: string | null, subtype: string, systemPayload: object = {}) =>
  record("system", uuid, parent, { subtype, systemPayload });

const telemetry = (uuid: string, parent: string, name = "qwen-code.api_response") =>
  system(uuid, parent, "ui_telemetry", { uiEvent: { "event.name": name } });

/** A session with a rewind, a compression that keeps the last turn, notices, and a title. */
export const EVERYTHING = [
  user("u1", null, "Fix it"),
  system("s1", "u1", "attribution_snapshot", { snapshot: {} }),
  telemetry("t1", "s1"),
  reply("a1", "t1", [{ text: "Hm.", thought: true }, { text: "I look." }, call("c1"), call("c2", "false")]),
  telemetry("t2", "a1", "qwen-code.tool_call"),
  result("r1", "t2", "c1", "a.ts"),
  result("r2", "r1", "c2", "", "error"),
  telemetry("t3", "r2"),
  reply("a2", "t3", [{ text: "Done." }]),
  user("u2", "a2", "No"),
  reply("a3", "u2", [{ text: "Why?" }]),
  system("w1", "a2", "rewind", { truncatedCount: 2 }),
  user("u3", "w1", "Yes"),
  reply("a4", "u3", [{ text: "Good." }]),
  system("k1", "a4", "chat_compression", {
    info: { originalTokenCount: 1075, newTokenCount: 1028, compressionStatus: 1, triggerReason: "manual" },
    compressedHistory: [
      {
        role: "user",
        parts: [{ text: "<state_snapshot>All done.</state_snapshot>\n\nResume the prior task using the summary above. Go." }],
      },
      { role: "model", parts: [{ text: "Got it. Thanks for the additional context!" }] },
      { role: "user", parts: [{ text: "Yes" }] },
      { role: "model", parts: [{ text: "Good." }] },
    ],
  }),
  user("n1", "k1", "A task ended.", { subtype: "notification", systemPayload: { displayText: "A task ended." } }),
  record("user", "u4", "n1", {
    message: {
      role: "user",
      parts: [{ text: "More" }, { text: "<qwen:user-prompt-submit-context>\nhook\n</qwen:user-prompt-submit-context>" }],
    },
  }),
  reply("a5", "u4", [{ text: "Sure." }]),
  system("c9", "a5", "custom_title", { customTitle: "A fix", titleSource: "manual" }),
];
