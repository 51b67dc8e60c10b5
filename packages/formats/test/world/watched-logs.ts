import { ON_SERVER } from "../../../../.ci/test-engine.js";
import * as antigravity from "../antigravity/antigravity-file.js";
import * as claude from "../claude/claude-file.js";
import * as codex from "../codex/rollout.js";
import * as droid from "../droid/droid-file.js";
import * as gemini from "../gemini/gemini-log.js";
import * as grok from "../grok/grok-file.js";
import * as kimi from "../kimi/kimi-file.js";
import * as pi from "../pi/pi-files.js";
import * as qwen from "../qwen/qwen-file.js";

/** Values as the lines of a file. */
export const jsonl = (lines: readonly unknown[]) => Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));

/** What a program writes at the end of a line, one after the other, and the rewritings of Gemini CLI among them. */
export const LOGS = {
  "Claude Code": [
    `.claude/projects/-work/${claude.SESSION}.jsonl`,
    [
      claude.side("queue-operation", { operation: "enqueue" }),
      claude.user("u1", null, "Fix it"),
      claude.reply("a1", "u1", "m1", [{ type: "thinking", thinking: "Hm.", signature: "s" }]),
      claude.reply("a2", "a1", "m1", [claude.text("I look.")]),
      claude.reply("a3", "a2", "m1", [claude.call("c1")]),
      claude.result("r1", "a3", "c1"),
      claude.reply("a4", "a3", "m1", [claude.call("c2")], { stop_reason: "tool_use", usage: { input_tokens: 10, output_tokens: 9 } }),
      claude.progress("p1", "a4"),
      claude.result("r2", "a4", "c2"),
      claude.reply("b1", "r2", "m2", [{ type: "thinking", thinking: "So.", signature: "s" }], { stop_reason: "end_turn" }),
      claude.reply("b2", "b1", "m2", [claude.text("Done.")], { stop_reason: "end_turn" }),
      claude.system("n1", "b2", "turn_duration", { durationMs: 5 }),
      claude.side("ai-title", { aiTitle: "A fix" }),
      claude.boundary("k1", "n1"),
      claude.summary("k2", "k1"),
      claude.user("u2", "k2", "More"),
      claude.reply("d1", "u2", "m3", [claude.text("Yes.")]),
    ],
  ],
  "Claude Code without parents": [
    `.claude/projects/-work/${claude.SESSION}.jsonl`,
    [
      claude.user("u1", null, "Fix it"),
      claude.reply("a1", null, "m1", [claude.text("I look.")]),
      claude.reply("a2", null, "m1", [claude.call("c1")]),
      claude.result("r1", null, "c1"),
      claude.reply("b1", null, "m2", [claude.text("Done.")], { stop_reason: "end_turn" }),
      claude.user("u2", null, "More"),
      claude.reply("d1", null, "m3", [claude.text("Yes.")]),
    ],
  ],
  Codex: [`.codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-${codex.THREAD}.jsonl`, codex.EVERYTHING],
  "Gemini CLI": [
    ".gemini/tmp/p/chats/session-2026-04-01T10-00-11111111.jsonl",
    [
      gemini.header(),
      { $set: { messages: [gemini.user("s", [{ text: "<session_context>x" }])] } },
      gemini.user("u", "go"),
      gemini.gemini("g", "Reading."),
      gemini.gemini("g", "Reading.", { tokens: { input: 9 } }),
      { $set: { lastUpdated: "2026-04-01T10:00:00.000Z" } },
      gemini.gemini("g", "Reading.", { tokens: { input: 9 }, toolCalls: [gemini.call("a", "A")] }),
      gemini.user("r", [gemini.response("a", "A")]),
      gemini.gemini("h", ""),
      gemini.gemini("h", "Done.", { tokens: { input: 5 } }),
      gemini.header(),
      { $set: { messages: [gemini.user("s", [{ text: "<session_context>x" }])] } },
      {
        $set: {
          messages: [
            gemini.user("s", [{ text: "<session_context>x" }]),
            gemini.user("u", [{ text: "go" }]),
            gemini.gemini("g", [{ text: "Reading." }]),
            gemini.user("g_response", [gemini.response("a", "A")]),
            gemini.gemini("h", [{ text: "Done." }]),
          ],
        },
      },
      gemini.user("v", "more"),
      { $rewindTo: "v" },
      gemini.user("w", "other"),
      gemini.gemini("k", "Yes."),
    ],
  ],
  "Copilot CLI": [
    ".copilot/session-state/578043da-10f8-4804-bd38-0fa40890fdb3/events.jsonl",
    [
      ["session.start", { sessionId: "578043da-10f8-4804-bd38-0fa40890fdb3", version: 1, context: { cwd: "/home/ada/app" } }],
      ["user.message", { content: "go", attachments: [] }],
      ["assistant.turn_start", { turnId: "0" }],
      ["assistant.reasoning", { content: "Hm." }],
      ["assistant.message", { messageId: "m1", content: "I ", toolRequests: [], chunkIndex: 0, chunkCount: 2 }],
      [
        "assistant.message",
        {
          messageId: "m1",
          content: "look.",
          toolRequests: [{ toolCallId: "c", name: "view", arguments: {} }],
          chunkIndex: 1,
          chunkCount: 2,
        },
      ],
      ["tool.execution_start", { toolCallId: "c", toolName: "view", arguments: {} }],
      ["tool.execution_complete", { toolCallId: "c", success: true, result: { content: "x" } }],
      ["assistant.reasoning", { content: "So." }],
      ["assistant.message", { messageId: "m2", content: "Done.", toolRequests: [] }],
      ["user.message", { content: "more", attachments: [] }],
      ["session.usage_record", { usage: { model: "gpt-5", inputTokens: 100, outputTokens: 9, apiCallId: "a3" } }],
      ["assistant.message", { messageId: "m3", content: "Yes.", toolRequests: [], apiCallId: "a3" }],
    ].map(([type, data], at) => ({
      ...{ type, data, id: `e${at}`, parentId: at === 0 ? null : `e${at - 1}` },
      timestamp: new Date(1_700_000_000_000 + at * 1_000).toISOString(),
    })),
  ],
  pi: [
    ".pi/agent/sessions/p/s1.jsonl",
    [
      pi.HEADER,
      pi.user("u1", null),
      pi.at("a1", "u1", { type: "message", message: { role: "assistant", content: [{ type: "text", text: "a1" }], usage: { input: 3 } } }),
      { type: "label", id: "l1", parentId: "a1", timestamp: "2026-01-02T03:04:05.006Z", targetId: "u1", label: "here" },
      pi.user("u2", "a1"),
      pi.user("u3", "a1"),
      { type: "session_info", id: "i1", parentId: "u3", timestamp: "2026-01-02T03:04:05.006Z", name: "A name" },
    ],
  ],
  "Qwen Code": [qwen.PATH, qwen.EVERYTHING],
  "Kimi Code": [kimi.pathOf("main"), kimi.EVERYTHING],
  Antigravity: [antigravity.PATH, antigravity.EVERYTHING],
  "Grok Build": [grok.PATH, grok.EVERYTHING],
  Droid: [droid.PATH, droid.EVERYTHING],
  "co-cli": [
    ".co-cli/sessions/2026-04-01-T100000Z-1a2b3c4d.jsonl",
    ["one", "two", "three"].map((content) => [
      { kind: "request", parts: [{ content, timestamp: "2026-04-01T10:00:05Z", part_kind: "user-prompt" }] },
      { kind: "response", parts: [{ content: `${content}!`, part_kind: "text" }], timestamp: "2026-04-01T10:00:05Z", model_name: "q" },
    ]),
  ],
  "VS Code": [
    ".config/Code/User/workspaceStorage/w/chatSessions/11111111-2222-4333-8444-555555555555.jsonl",
    [
      { kind: 0, v: { version: 3, sessionId: "11111111-2222-4333-8444-555555555555", creationDate: 1_690_000_000_000, requests: [] } },
      {
        kind: 2,
        k: ["requests"],
        v: [{ requestId: "a", timestamp: 1_700_000_000_000, message: { text: "do a" }, response: [], modelId: "m" }],
      },
      { kind: 2, k: ["requests", 0, "response"], v: [{ value: "one " }] },
      { kind: 2, k: ["requests", 0, "response"], v: [{ value: "two" }] },
      { kind: 1, k: ["requests", 0, "result"], v: {} },
      { kind: 2, k: ["requests"], v: [{ requestId: "b", timestamp: 1_700_000_001_000, message: { text: "do b" }, response: [] }] },
      { kind: 2, k: ["requests", 1, "response"], v: [{ value: "three" }] },
    ],
  ],
} satisfies Readonly<Record<string, readonly [path: string, lines: readonly unknown[]]>>;

/**
 * How a log is read is the same on every engine, and an engine knows the kinds of records only. On a server four logs have all of these: entries of
 * several lines and written again, rewinds, labels, titles, compactions, ends that are held.
 */
export const WRITTEN_BY = ON_SERVER
  ? (["Claude Code", "Codex", "Gemini CLI", "pi"] as const)
  : (Object.keys(LOGS) as (keyof typeof LOGS)[]);
