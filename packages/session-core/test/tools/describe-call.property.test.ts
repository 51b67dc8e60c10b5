import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { describeCall } from "../../src/tools/describe-call.js";

const directory = "/home/ann/app";

function detailOf(name: string, args: Record<string, unknown>): string {
  return describeCall({ name, arguments: args }, { directory }).detail;
}

describe("a call is described by", () => {
  test.each([
    ["Read", { file_path: "/home/ann/app/src/a.ts" }, "src/a.ts"],
    ["read", { path: "./src/a.ts" }, "src/a.ts"],
    ["read", { path: "/home/ann/app" }, "."],
    ["read", { path: "/home/ann/.pi/theme.json" }, "~/.pi/theme.json"],
    ["read", { path: "/home/ann/application/a.ts" }, "~/application/a.ts"],
    ["read", { path: "/etc/hosts" }, "/etc/hosts"],
    ["read", { path: "src/a.ts", offset: 120, limit: 60 }, "src/a.ts:120-179"],
    ["read", { path: "src/a.ts", offset: 120 }, "src/a.ts:120-"],
    ["view", { path: "src/a.ts", view_range: [3, 9] }, "src/a.ts:3-9"],
    ["MultiEdit", { edits: [{ path: "/home/ann/app/a.ts" }, { path: "b.ts" }, { path: "b.ts" }] }, "a.ts, b.ts"],
    ["move_file", { source: "/home/ann/app/a.ts", destination: "/home/ann/app/b.ts" }, "a.ts → b.ts"],
    ["apply_patch", { input: "*** Begin Patch\n*** Delete File: a.ts\n*** End Patch" }, "a.ts"],
  ])("its files: %s %j is %j", (name, args, detail) => {
    expect(detailOf(name, args)).toBe(detail);
  });

  test.each([
    ["cd /home/ann/app && npm test", "npm test"],
    ["cd '/home/ann/app/' && cd . ; npm test", "npm test"],
    ["cd /home/ann/app\nnpm test", "npm test"],
    ["cd /home/ann/app", "cd ."],
    ["cd /home/ann/app/packages/a && npm test", "cd packages/a && npm test"],
    ["cd /home/ann/application && ls", "cd ~/application && ls"],
    ["cat /home/ann/app/src/a.ts > /home/ann/app/b.ts", "cat src/a.ts > b.ts"],
    ['grep -r "x" "/home/ann/app/src" /home/ann/app', 'grep -r "x" "src" .'],
    ["ls /home/ann/app-2 /mnt/home/ann/app/x", "ls ~/app-2 /mnt/home/ann/app/x"],
    ["ls /home/ann /home/anna", "ls ~ /home/anna"],
    ["make\n  test", "make test"],
  ])("its command: %j is %j", (command, detail) => {
    expect(detailOf("bash", { command })).toBe(detail);
    expect(detailOf("shell", { command: ["bash", "-lc", command] })).toBe(detail);
  });

  test.each([
    ["Grep", { pattern: "TODO", path: "/home/ann/app/src", glob: "*.ts" }, "TODO in src *.ts"],
    ["Glob", { pattern: "**/*.ts", path: "/home/ann/app" }, "**/*.ts"],
    ["ls", { path: "/home/ann/app/src" }, "src"],
    ["WebFetch", { url: "https://a.example/b", prompt: "What does it say?" }, "https://a.example/b"],
  ])("what it searches: %s %j is %j", (name, args, detail) => {
    expect(detailOf(name, args)).toBe(detail);
  });

  test.each([
    ["TodoWrite", { todos: [todo("Lexer", "completed"), todo("Parser", "in_progress"), todo("Docs", "pending")] }, "1 of 3 done: Parser"],
    ["update_plan", { plan: [{ step: "Lexer", status: "pending" }] }, "0 of 1 done: Lexer"],
    ["TodoWrite", { todos: [todo("Lexer", "completed")] }, "1 of 1 done"],
  ])("how far its plan is: %s is %3$j", (name, args, detail) => {
    expect(detailOf(name, args)).toBe(detail);
  });

  test.each([
    ["Task", { subagent_type: "general", prompt: "Sleep. Then report.", description: "Sleep for 1 second" }, "Sleep for 1 second"],
    ["ask", { questions: [{ header: "A", question: "Which one?" }] }, "Which one?"],
    ["Skill", { skill: "pdf", args: "" }, "pdf"],
    ["wait", { seconds: 3, loud: false }, "seconds=3 loud=false"],
    ["ExitPlanMode", {}, ""],
    ["read", { path: 7, text: "seven" }, "seven"],
  ])("the argument that tells most: %s %j is %j", (name, args, detail) => {
    expect(detailOf(name, args)).toBe(detail);
  });

  test("whole, without a limit of 50 characters", () => {
    const command = `npm run check -- ${"--flag ".repeat(30)}end`;
    expect(detailOf("bash", { command })).toBe(command);
  });
});

function todo(content: string, status: string) {
  return { content, status };
}

test("a session without a directory keeps its paths", () => {
  const call = { name: "bash", arguments: { command: "cd /home/ann/app && ls /home/ann/app/src" } };
  for (const given of [undefined, "", "/"]) expect(describeCall(call, { directory: given }).detail).toBe(call.arguments.command);
});

test("a directory of Windows is left out as well", () => {
  const call = { name: "read", arguments: { path: "C:\\Users\\ann\\app\\src\\a.ts" } };
  expect(describeCall(call, { directory: "C:\\Users\\ann\\app" }).detail).toBe("src\\a.ts");
  expect(describeCall(call, { directory: "C:\\Users\\ann\\other" }).detail).toBe("~/app\\src\\a.ts");
});

test("any arguments give one line without control characters", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 80 }),
    fc.constantFrom("cd /home/ann/app && x", "/home/ann/app/", "\u001b[31mred", "a\nb", "\u202eevil"),
  );
  const name = fc.oneof(fc.constantFrom("bash", "read", "edit", "Grep", "TodoWrite", "apply_patch", "move", "Task", "x"), text);
  const key = fc.constantFrom(
    "path",
    "command",
    "pattern",
    "todos",
    "input",
    "offset",
    "limit",
    "edits",
    "prompt",
    "toString",
    "__proto__",
  );
  const value = fc.oneof(text, fc.anything({ withNullPrototype: true }));
  const folder = fc.constantFrom(undefined, directory, "/", "", ".", "C:\\", "/home/ann", "(", "[a", "\\");
  fc.assert(
    fc.property(name, fc.dictionary(key, value), folder, (tool, args, given) => {
      const described = describeCall({ name: tool, arguments: args }, { directory: given });
      for (const part of [described.name, described.detail]) {
        expect(part).not.toMatch(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/u);
        expect(part.isWellFormed()).toBe(true);
        expect(part.length).toBeLessThanOrEqual(400);
      }
    }),
    { numRuns: runs(2000) },
  );
});
