import { describe, expect, test } from "vitest";
import type { ContextMessage } from "../../../src/context/context.js";
import { toAiSdk } from "../../../src/context/converters/ai-sdk.js";
import { toAnthropic } from "../../../src/context/converters/anthropic.js";
import { toOpenAiChat } from "../../../src/context/converters/openai-chat.js";
import { toOpenAiResponses } from "../../../src/context/converters/openai-responses.js";
import { contextOf } from "./contexts.js";

function read(message: ContextMessage): unknown {
  return toOpenAiChat(contextOf([message])).map((one) => one.content)[0];
}

describe("what a model reads in place of", () => {
  test("a compaction", () => {
    expect(read({ role: "compactionSummary", summary: "We built it." })).toBe(
      "The conversation history before this point was compacted into the following summary:\n\n<summary>\nWe built it.\n</summary>",
    );
  });

  test("a branch that was left", () => {
    expect(read({ role: "branchSummary", summary: "It failed.", fromId: "e1" })).toBe(
      "The following is a summary of a branch that this conversation came back from:\n\n<summary>\nIt failed.\n</summary>",
    );
  });

  test("a command of the person", () => {
    expect(read({ role: "bashExecution", command: "ls", output: "a\nb\n", exitCode: 0 })).toBe("Ran `ls`\n```\na\nb\n```");
  });

  test("a command without output that failed", () => {
    expect(read({ role: "bashExecution", command: "false", output: "", exitCode: 1 })).toBe(
      "Ran `false`\n(no output)\n\nCommand exited with code 1",
    );
  });

  test("a command that was cancelled, its output cut", () => {
    const message = { role: "bashExecution", command: "yes", output: "y", exitCode: 130, cancelled: true, truncated: true } as const;
    expect(read({ ...message, fullOutputPath: "/tmp/out" })).toBe(
      "Ran `yes`\n```\ny\n```\n\n(command cancelled)\n\n[Output truncated. Full output: /tmp/out]",
    );
  });

  test("output that holds a fence itself", () => {
    expect(read({ role: "bashExecution", command: "cat a.md", output: "````md\nx\n````" })).toBe(
      "Ran `cat a.md`\n`````\n````md\nx\n````\n`````",
    );
  });

  test("a command with backticks, or of several lines", () => {
    expect(read({ role: "bashExecution", command: "echo `pwd`", output: "" })).toBe("Ran `` echo `pwd` ``\n(no output)");
    expect(read({ role: "bashExecution", command: "a\nb", output: "" })).toBe("Ran this command:\n```\na\nb\n```\n(no output)");
  });

  test("a command that was kept from the model: nothing", () => {
    expect(read({ role: "bashExecution", command: "env", output: "SECRET", excludeFromContext: true })).toBe(undefined);
  });

  test("a message of a host", () => {
    expect(read({ role: "custom", customType: "note", content: "The build is red." })).toBe("The build is red.");
  });
});

describe("a summary, whichever provider it goes to,", () => {
  test.each<ContextMessage>([
    { role: "compactionSummary", summary: "We built it." },
    { role: "branchSummary", summary: "It failed.", fromId: null },
  ])("is a message of the user: $role", (message) => {
    const context = contextOf([message]);
    const roles = [
      toOpenAiChat(context).map(({ role }) => role),
      toOpenAiResponses(context).input.map((item) => "role" in item && item.role),
      toAnthropic(context).messages.map(({ role }) => role),
      toAiSdk(context).messages.map(({ role }) => role),
    ];
    expect(roles).toEqual([["user"], ["user"], ["user"], ["user"]]);
  });
});
