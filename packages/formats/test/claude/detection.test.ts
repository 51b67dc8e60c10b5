import { describe, expect, test } from "vitest";
import { claudeFormat } from "../../src/claude/format.js";
import { headOf } from "../file-head.js";
import { type Line, progress, side, user } from "./claude-file.js";

const detects = (...records: Line[]) => claudeFormat.detects(headOf(records));

describe("a file of Claude Code is known by its content", () => {
  test.each([
    ["a prompt", user("u1", null, "hi")],
    ["a hook's report", progress("p1", "u1")],
    ["a summary", { type: "summary", summary: "x", leafUuid: "y" }],
    ["a queue operation", side("queue-operation", { operation: "enqueue" })],
    ["a snapshot", { type: "file-history-snapshot", messageId: "u1", snapshot: {} }],
    ["a title", side("custom-title", { customTitle: "x" })],
  ])("that begins with %s", (_, record) => {
    expect(detects(record)).toBe(true);
  });

  test.each([
    ["pi", { type: "session", version: 3, id: "x", timestamp: "2026-01-01T00:00:00Z", cwd: "/" }],
    ["pi", { type: "message", id: "1", parentId: null, message: { role: "user", content: "hi" } }],
    ["Codex", { timestamp: "2026-01-01T00:00:00Z", type: "session_meta", payload: { id: "x" } }],
    ["Qwen Code", { type: "user", uuid: "q1", parentUuid: null, sessionId: "q", message: { role: "user", parts: [{ text: "hi" }] } }],
    ["Qwen Code", { type: "system", subtype: "ui_telemetry", uuid: "q2", parentUuid: "q1", sessionId: "q", systemPayload: {} }],
    ["Copilot", { type: "session.start", id: "x", parentId: null, data: { sessionId: "y" }, timestamp: "2026-01-01T00:00:00Z" }],
  ])("and a record of %s is none", (_, record) => {
    expect(detects(record)).toBe(false);
  });
});
