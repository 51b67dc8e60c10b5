import { describe, expect, test } from "vitest";
import type { ToolResultMessage } from "../../src/entry/message.js";
import type { Arguments } from "../../src/tools/arguments.js";
import { viewCall, viewResult } from "../../src/view/call-view.js";

function view(name: string, args: Arguments, directory?: string) {
  return viewCall({ type: "toolCall", id: "c1", name, arguments: args }, null, { directory });
}

function result(content: ToolResultMessage["content"], isError = false): ToolResultMessage {
  return { role: "toolResult", toolCallId: "c1", toolName: "read", content, isError };
}

describe("the view of a call", () => {
  test.each([
    { oldText: "a", newText: "b" },
    { old_string: "a", new_string: "b" },
    { oldString: "a", newString: "b" },
    { old_str: "a", new_str: "b" },
    { edits: [{ oldText: "a", newText: "b" }] },
  ])("shows %j as a change", (args) => {
    const { input, rest } = view("edit", { path: "a.ts", ...args });
    expect(input).toMatchObject([{ type: "diff", edits: [{ before: "a", after: "b" }] }]);
    expect(rest).toEqual({});
  });

  test("shows a list of edits as JSON if one of them has another shape", () => {
    const edits = [{ oldText: "a", newText: "b" }, { range: 3 }];
    expect(view("edit", { path: "a.ts", edits })).toMatchObject({ input: [], rest: { edits } });
  });

  test("keeps what a list of edits says besides its texts", () => {
    const edits = [
      { oldText: "a", newText: "b" },
      { oldText: "c", newText: "d", all: true },
    ];
    expect(view("edit", { path: "a.ts", edits }).rest).toEqual({ edits: [{}, { all: true }] });
  });

  test("shows a patch as a patch, also in a shell command, and a file with a patch as a file", () => {
    const patch = "*** Begin Patch\n*** Update File: a.ts\n-a\n+b\n*** End Patch";
    expect(view("apply_patch", { input: patch }).input).toEqual([{ type: "patch", text: patch }]);
    expect(view("shell", { command: ["apply_patch", patch] }).input).toEqual([{ type: "patch", text: patch }]);
    expect(view("write", { path: "fix.patch", content: patch }).input).toMatchObject([{ type: "code", purpose: "written", text: patch }]);
  });

  test("shows a list of tasks, and the arguments beside it", () => {
    const plan = [
      { step: "Lexer", status: "completed" },
      { step: "Parser", status: "pending" },
    ];
    expect(view("update_plan", { explanation: "First the lexer", plan })).toMatchObject({
      input: [
        {
          type: "todos",
          todos: [
            { text: "Lexer", state: "done" },
            { text: "Parser", state: "open" },
          ],
        },
      ],
      rest: { explanation: "First the lexer" },
    });
  });

  test("shows a command without the shell that runs it, and says whether the title is all of it", () => {
    const command = (text: string, inTitle: boolean) => [{ type: "code", purpose: "command", text, language: "sh", inTitle }];
    expect(view("shell", { command: ["bash", "-lc", "ls -l"] }).input).toEqual(command("ls -l", true));
    expect(view("bash", { command: "cd /app && ls" }, "/app").input).toEqual(command("cd /app && ls", false));
    expect(view("bash", { command: "a\nb" }).input).toEqual(command("a\nb", false));
  });

  test("tells arguments that the title says from others", () => {
    const args = { pattern: "tab", path: "/app/src", glob: "*.ts", output_mode: "tab", limit: 5, empty: "" };
    expect(view("grep", args, "/app")).toMatchObject({
      detail: "tab in src *.ts",
      titled: { pattern: "tab", path: "/app/src", glob: "*.ts" },
      rest: { output_mode: "tab", limit: 5 },
    });
    expect(view("read", { path: "/app/a.ts", offset: 10, limit: 20 }, "/app")).toMatchObject({ detail: "a.ts:10-29", rest: {} });
    expect(view("read", { path: "a.ts", offset: "10" })).toMatchObject({ detail: "a.ts", rest: { offset: "10" } });
  });

  test("loses no argument, of whatever type it is", () => {
    const odd = { path: null, file_path: 7, oldText: "a", newText: null, edits: ["x", null], command: { a: 1 }, content: [] };
    for (const name of ["edit", "write", "bash", "read", "MultiEdit", ""]) {
      const { titled, rest, input } = view(name, odd);
      expect({ ...titled, ...rest }, name).toEqual(odd);
      expect(input).toEqual([]);
    }
  });
});

describe("the view of a result", () => {
  test("has the output as the tool wrote it, and the parts as the model gets them", () => {
    const text = "     1→one\n     2→two\n\n<system-reminder>\nBe careful.\n</system-reminder>";
    const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
    const call = { type: "toolCall" as const, id: "c1", name: "read", arguments: { path: "a.ts" } };
    expect(viewResult(result([{ type: "text", text }, image]), call)).toEqual({
      type: "result",
      name: "read",
      isError: false,
      parts: [
        { type: "text", text },
        { type: "image", mimeType: "image/png", data: "AAAA", bytes: 3 },
      ],
      output: "one\ntwo",
      reminders: 1,
      language: "ts",
    });
  });

  test("of a read that failed is no file", () => {
    const call = { type: "toolCall" as const, id: "c1", name: "read", arguments: { path: "a.ts" } };
    expect(viewResult(result("1\tno such file", true), call)).toMatchObject({ output: "1\tno such file", language: "" });
  });
});
