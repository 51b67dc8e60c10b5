import { describe, expect, test } from "vitest";
import { progress, text, user } from "./claude-file.js";
import { importLines, messageOf, pathOf, payloadOf } from "./imported.js";

const only = (content: unknown, rest = {}) => messageOf(importLines([user("u1", null, content, rest)]), "u1");

describe("a text under the role `user`", () => {
  test.each([
    ["<command-name>/init</command-name>", "claude.command"],
    ["<command-message>init is running</command-message>\n<command-name>/init</command-name>", "claude.command"],
    ["<local-command-stdout>done</local-command-stdout>", "claude.command"],
    ["<bash-input>ls</bash-input>", "claude.bash"],
    ["<bash-stdout>a.ts</bash-stdout><bash-stderr></bash-stderr>", "claude.bash"],
    ["[Request interrupted by user for tool use]", "claude.interrupted"],
    ["<task-notification>\nended</task-notification>", "claude.notification"],
  ])("that the program wrote, such as %j, is a custom message that a person saw", (content, customType) => {
    expect(only(content)).toEqual({ role: "custom", customType, display: true, content });
    expect(only([text(content)])).toMatchObject({ customType, content: [{ type: "text", text: content }] });
  });

  test.each([
    ["<local-command-caveat>Caveat: …</local-command-caveat>", {}],
    ["<system-reminder>mind the tests</system-reminder>", {}],
    ["Please analyze this codebase", { isMeta: true }],
  ])("that nobody saw, such as %j, is kept for the model and not displayed", (content, rest) => {
    expect(only(content, rest)).toEqual({ role: "custom", customType: "claude.meta", display: false, content });
  });

  test.each(["fix <command-name> in the docs", "why [Request interrupted by user]?", "", "[1] first"])(
    "that a person typed, such as %j, is theirs",
    (content) => {
      expect(only(content)).toEqual({ role: "user", content });
    },
  );

  test("with reminders around it reads as the person said it, and the reminders follow", () => {
    const reminder = text("<system-reminder>the date</system-reminder>");
    const session = importLines([user("u1", null, [reminder, text("hello")]), user("u2", "u1", "next")]);
    expect(pathOf(session)).toEqual(["u1", "2:u1", "u2"]);
    expect(messageOf(session, "u1")).toEqual({ role: "user", content: [{ type: "text", text: "hello" }] });
    expect(messageOf(session, "2:u1")).toEqual({ role: "custom", customType: "claude.meta", display: false, content: [reminder] });
  });

  test("that no model ever saw is kept out of the context", () => {
    const payload = payloadOf(importLines([user("u1", null, "for the screen", { isVisibleInTranscriptOnly: true })]), "u1");
    expect(payload).toMatchObject({ type: "foreign", originalType: "user" });
  });
});

test("content that is null reads as none", () => {
  expect(only(null)).toEqual({ role: "user", content: [] });
});

test("a prompt queued while the model was at work is a message that a person sees", () => {
  const queued = { ...progress("q1", "u1"), type: "attachment", attachment: { type: "queued_command", prompt: "also the docs" } };
  const session = importLines([user("u1", null, "go"), queued]);
  expect(messageOf(session, "q1")).toEqual({ role: "custom", customType: "claude.queued", display: true, content: "also the docs" });
});

test("a queued notice of a background task is one, with what the attachment says besides", () => {
  const attachment = { type: "queued_command", prompt: "<task-notification>done", commandMode: "task-notification" };
  const session = importLines([user("u1", null, "go"), { ...progress("q1", "u1"), type: "attachment", attachment }]);
  expect(messageOf(session, "q1")).toMatchObject({ customType: "claude.notification", details: { commandMode: "task-notification" } });
});
