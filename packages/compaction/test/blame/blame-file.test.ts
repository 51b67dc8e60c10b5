import { assistantMessage, openStore, type Session, type Store, toolResult, userMessage } from "@bough/session-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type BlameRequest, blameFile } from "../../src/blame/blame-file.js";

let store: Store;
let clock = 0;

beforeEach(async () => {
  store = await openStore({ path: ":memory:" });
  clock = 1_000;
});

afterEach(async () => {
  await store.close();
});

interface Ran {
  /** undefined: no result is recorded. */
  readonly output?: string | undefined;
  readonly isError?: boolean;
  readonly details?: unknown;
}

/** Appends a call and its result; the id of the entry with the call is `name` and a number. */
async function run(session: Session, name: string, args: Record<string, unknown>, ran: Ran = {}): Promise<string> {
  clock += 10;
  const id = `${name}${clock}`;
  const message = assistantMessage([{ type: "toolCall", id, name, arguments: args }], { provider: "anthropic", model: "claude-test" });
  await session.append({ ...message, id, createdAtMs: clock });
  const { output = "ok", isError = false, details } = ran;
  if (!("output" in ran) || ran.output !== undefined)
    await session.append({
      ...toolResult(id, output, { toolName: name, isError, ...(details === undefined ? {} : { details }) }),
      createdAtMs: clock,
    });
  return id;
}

const inProject = () => store.createSession({ cwd: "/home/me/p" });

/** Each line as `verdict entry`, the entry "-" if there is none. */
async function blame(text: string, request: Partial<BlameRequest> = {}): Promise<readonly string[]> {
  const { lines, entries } = await blameFile(store, { paths: ["/home/me/p/src/a.ts"], text, home: "/home/me", ...request });
  return lines.map(({ verdict, entry }) => `${verdict} ${entries[entry ?? -1]?.entryId ?? "-"}`);
}

async function reasonOf(text: string, line: number): Promise<string | null | undefined> {
  return (await blameFile(store, { paths: ["/home/me/p/src/a.ts"], text })).lines[line - 1]?.reason;
}

const FIRST = "const one = 1;\nconst two = 2;\nconst three = 3;\n";

describe("the author of a line", () => {
  test("is the call that wrote it, in whatever session, with its request and its model", async () => {
    const one = await inProject();
    const request = await one.append(userMessage("Write the numbers"));
    const write = await run(one, "write", { path: "src/a.ts", content: FIRST });
    const other = await store.createSession({ cwd: "/home/me/p/src", title: "Twenty" });
    const edit = await run(other, "edit", {
      path: "a.ts",
      old_string: "const two = 2;",
      new_string: "const two = 20;\nconst twenty = 20;",
    });
    const text = "const one = 1;\nconst two = 20;\nconst twenty = 20;\nconst three = 3;\n";
    expect(await blame(text)).toEqual([`written ${write}`, `written ${edit}`, `written ${edit}`, `written ${write}`]);
    const { entries } = await blameFile(store, { paths: ["/home/me/p/src/a.ts"], text });
    expect(entries).toEqual([
      {
        sessionId: one.id,
        entryId: write,
        agent: "bough",
        title: null,
        cwd: "/home/me/p",
        model: "claude-test",
        createdAtMs: expect.any(Number),
        request: { entryId: request.id, text: "Write the numbers" },
      },
      expect.objectContaining({ sessionId: other.id, entryId: edit, title: "Twenty", request: null }),
    ]);
  });

  test("stays when white space, line breaks or other lines change", async () => {
    const write = await run(await inProject(), "write", { path: "src/a.ts", content: FIRST });
    expect(await blame("// by hand, at the top\r\n  const one=1;\r\n\tconst two = 2;\r\nconst three = 4;\r\n")).toEqual([
      "none -",
      `written ${write}`,
      `written ${write}`,
      "none -",
    ]);
  });

  test("is none for what was there before, and for a call that failed", async () => {
    const session = await inProject();
    await run(session, "read", { path: "src/a.ts" }, { output: FIRST });
    await run(session, "edit", { path: "src/a.ts", old_string: "one", new_string: "won" }, { isError: true });
    expect(await blame(FIRST)).toEqual(["none -", "none -", "none -"]);
    expect(await reasonOf(FIRST, 1)).toContain("before the first call");
  });

  test("is perhaps a whole write, although the file was read later: the read says nothing of what was there before the write", async () => {
    const session = await inProject();
    const edit = await run(session, "edit", { path: "src/a.ts", old_string: "const two = 1;", new_string: "const two = 2;" });
    const write = await run(session, "write", { path: "src/a.ts", content: "const zero = 0;\nconst one = 1;\n" });
    await run(session, "edit", { path: "src/a.ts", old_string: "const zero = 0;\n", new_string: "" });
    await run(session, "read", { path: "src/a.ts" }, { output: FIRST });
    expect(await blame(FIRST)).toEqual([`perhaps ${write}`, `perhaps ${edit}`, "none -"]);
    expect(await reasonOf(FIRST, 1)).toBe("the call wrote the whole file, and what it replaced is not known");
  });

  test("is the original of an entry that forks have copied", async () => {
    const session = await inProject();
    const write = await run(session, "write", { path: "src/a.ts", content: FIRST });
    await store.forkSession(session.id);
    const { entries } = await blameFile(store, { paths: ["/home/me/p/src/a.ts"], text: FIRST });
    expect(entries.map(({ sessionId, entryId }) => [sessionId, entryId])).toEqual([[session.id, write]]);
  });

  test.each(["/home/me/p/src/a.ts", "src/a.ts", "./src/a.ts", "~/p/src/a.ts", "file:///home/me/p/src/a.ts"])(
    "is found under the path %s",
    async (path) => {
      const write = await run(await inProject(), "write", { path, content: FIRST });
      expect(await blame(FIRST)).toEqual(Array(3).fill(`written ${write}`));
    },
  );

  test.each([
    ["/home/me/p/tools", "../src/a.ts"],
    ["/home/me/p/src/deep/er", "../../a.ts"],
    ["/srv/other", "../../home/me/p/src/a.ts"],
  ])("is found from %s under the path %s", async (cwd, path) => {
    const write = await run(await store.createSession({ cwd }), "write", { path, content: FIRST });
    expect(await blame(FIRST)).toEqual(Array(3).fill(`written ${write}`));
    await run(await store.createSession({ cwd: "/home/me/p/other/tools" }), "write", { path: "../src/a.ts", content: FIRST });
    expect(await blame(FIRST)).toEqual(Array(3).fill(`written ${write}`));
  });

  test("is not a call on a file of the same name elsewhere", async () => {
    await run(await store.createSession({ cwd: "/home/me/q" }), "write", { path: "src/a.ts", content: FIRST });
    await run(await inProject(), "write", { path: "a.ts", content: FIRST });
    expect(await blame(FIRST)).toEqual(Array(3).fill("none -"));
  });

  test("is only perhaps a call in another working tree, or one before a commit was made", async () => {
    const write = await run(await store.createSession({ cwd: "/home/me/tree" }), "write", { path: "src/a.ts", content: FIRST });
    expect(await blame(FIRST, { elsewhere: ["/home/me/tree/src/a.ts"] })).toEqual(Array(3).fill(`perhaps ${write}`));
    expect(await blame(FIRST, { elsewhere: ["/home/me/tree/src/a.ts"], untilMs: 5 })).toEqual(Array(3).fill("none -"));
  });

  test("is known for the lines that are asked for only", async () => {
    const write = await run(await inProject(), "write", { path: "src/a.ts", content: FIRST });
    const { lines } = await blameFile(store, { paths: ["/home/me/p/src/a.ts"], text: FIRST, lines: { from: 2, to: 2 } });
    expect(lines).toEqual([{ line: 2, verdict: "written", entry: 0, reason: null }]);
    expect(write).toBeDefined();
  });
});

describe("a line is perhaps of a call", () => {
  test("without a result", async () => {
    const write = await run(await inProject(), "write", { path: "src/a.ts", content: "const one = 1;\n" }, { output: undefined });
    expect(await blame("const one = 1;\n")).toEqual([`perhaps ${write}`]);
    expect(await reasonOf("const one = 1;\n", 1)).toContain("no result");
  });

  test("that added a line like one that was there", async () => {
    const session = await inProject();
    const write = await run(session, "write", { path: "src/a.ts", content: "if (a) {\n  call();\n}\n" });
    const edit = await run(session, "edit", { path: "src/a.ts", oldText: "}\n", newText: "}\nif (b) {\n  other();\n}\n" });
    expect(await blame("if (a) {\n  call();\n}\nif (b) {\n  other();\n}\n")).toEqual([
      `written ${write}`,
      `written ${write}`,
      `perhaps ${write}`,
      `written ${edit}`,
      `written ${edit}`,
      `perhaps ${edit}`,
    ]);
  });

  test("that wrote over a text that was never seen whole", async () => {
    const session = await inProject();
    await run(session, "read", { path: "src/a.ts", offset: 10 }, { output: "const three = 3;" });
    const write = await run(session, "write", { path: "src/a.ts", content: FIRST });
    expect(await blame(FIRST)).toEqual(Array(3).fill(`perhaps ${write}`));
  });

  test("that a person has moved since, or that a shell command has too", async () => {
    const session = await inProject();
    const write = await run(session, "write", { path: "src/a.ts", content: FIRST });
    expect(await blame("const three = 3;\nconst one = 1;\nconst two = 2;\n")).toEqual([
      `perhaps ${write}`,
      `written ${write}`,
      `written ${write}`,
    ]);
    const command = await run(session, "bash", { command: "cat >> src/a.ts << EOF\nconst four = 4;\nEOF\nnpm test" });
    expect(await blame(`${FIRST}const four = 4;\n`)).toEqual([...Array(3).fill(`written ${write}`), `perhaps ${command}`]);
  });

  test("that cannot be replayed: a cell of a notebook", async () => {
    const edit = await run(await store.createSession({ cwd: "/n" }), "NotebookEdit", {
      notebook_path: "/n/a.ipynb",
      new_source: "print(1)\nprint(2)",
    });
    const text = '{ "cells": [ { "source": [\n   "print(1)\\n",\n   "print(2)"\n] } ] }\n';
    const { lines, entries } = await blameFile(store, { paths: ["/n/a.ipynb"], text });
    expect(lines.map(({ verdict }) => verdict)).toEqual(["none", "perhaps", "perhaps", "none"]);
    expect(entries.map(({ entryId }) => entryId)).toEqual([edit]);
  });
});

describe("the replay knows", () => {
  test("the text before an edit from the file, if no call shows it", async () => {
    const session = await inProject();
    const edit = await run(session, "edit", { path: "src/a.ts", oldText: "two = 2", newText: "two = 22" });
    const again = await run(session, "edit", { path: "src/a.ts", oldText: "one = 1;", newText: "one = 11; // now" });
    expect(await blame("const one = 11; // now\nconst two = 22;\nconst three = 3;\n")).toEqual([
      `written ${again}`,
      `written ${edit}`,
      "none -",
    ]);
  });

  test("the text that the agent recorded with an edit", async () => {
    const session = await inProject();
    const details = { originalFile: "by hand 1;\nconst one = 1;\n", filePath: "/home/me/p/src/a.ts" };
    await run(session, "Write", { file_path: "/home/me/p/src/a.ts", content: "const one = 1;\n" });
    const edit = await run(
      session,
      "Edit",
      { file_path: "/home/me/p/src/a.ts", old_string: "one = 1", new_string: "one = 2" },
      { details },
    );
    expect(await blame("by hand 1;\nconst one = 2;\n")).toEqual(["none -", `written ${edit}`]);
  });

  test("all edits of a list, replacements of every place, insertions and appended text", async () => {
    const session = await inProject();
    const write = await run(session, "write", { path: "src/a.ts", content: "const a = x;\nconst b = x;\nconst c = 0;\n" });
    const all = await run(session, "edit", { path: "src/a.ts", old_string: "x", new_string: "y", replace_all: true });
    const list = await run(session, "MultiEdit", {
      file_path: "src/a.ts",
      edits: [
        { old_string: "c = 0", new_string: "c = 1" },
        { old_string: "c = 1", new_string: "c = 2" },
      ],
    });
    const insert = await run(session, "str_replace_editor", {
      command: "insert",
      path: "src/a.ts",
      insert_line: 1,
      new_str: "const ab = 3;",
    });
    const append = await run(session, "WriteFile", { path: "src/a.ts", content: "const last = 9;\n", mode: "append" });
    expect(write).toBeDefined();
    expect(await blame("const a = y;\nconst ab = 3;\nconst b = y;\nconst c = 2;\nconst last = 9;\n")).toEqual(
      [all, insert, all, list, append].map((id) => `written ${id}`),
    );
  });

  test.each([
    ["of Codex", "*** Begin Patch\n*** Update File: src/a.ts\n@@\n const one = 1;\n-const two = 2;\n+const two = 22;\n*** End Patch"],
    ["of git", "--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,3 +1,3 @@\n const one = 1;\n-const two = 2;\n+const two = 22;\n const three = 3;\n"],
  ])("a patch %s", async (_form, patch) => {
    const session = await inProject();
    const write = await run(session, "write", { path: "src/a.ts", content: FIRST });
    const id = await run(session, "apply_patch", { input: patch });
    expect(await blame(FIRST.replace("= 2", "= 22"))).toEqual([`written ${write}`, `written ${id}`, `written ${write}`]);
  });

  test("blocks of SEARCH and REPLACE", async () => {
    const session = await inProject();
    const write = await run(session, "write_to_file", { path: "src/a.ts", content: FIRST });
    const diff = "------- SEARCH\nconst two = 2;\n=======\nconst two = 22;\n+++++++ REPLACE";
    const id = await run(session, "replace_in_file", { path: "src/a.ts", diff });
    expect(await blame(FIRST.replace("= 2", "= 22"))).toEqual([`written ${write}`, `written ${id}`, `written ${write}`]);
  });

  test("the names that a file had before: by a patch, by a tool, by a shell command, and by git", async () => {
    const session = await inProject();
    const write = await run(session, "write", { path: "src/first.ts", content: FIRST });
    await run(session, "bash", { command: "git mv src/first.ts src/second.ts" });
    await run(session, "move_file", { source: "src/second.ts", destination: "src/third.ts" });
    const patch =
      "*** Begin Patch\n*** Update File: src/third.ts\n*** Move to: src/a.ts\n@@\n-const two = 2;\n+const two = 22;\n*** End Patch";
    const id = await run(session, "apply_patch", { input: patch });
    const text = FIRST.replace("= 2", "= 22");
    expect(await blame(text)).toEqual([`written ${write}`, `written ${id}`, `written ${write}`]);
    expect(await blame(text, { paths: ["/home/me/p/src/z.ts"], renames: [{ from: "/home/me/p/src/a.ts", untilMs: clock + 1 }] })).toEqual([
      `written ${write}`,
      `written ${id}`,
      `written ${write}`,
    ]);
  });

  test("a text that a shell command writes alone", async () => {
    const session = await inProject();
    const write = await run(session, "bash", { command: "cd /home/me/p && cat > src/a.ts <<'END'\nconst one = 1;\nEND" });
    expect(await blame("const one = 1;\n")).toEqual([`written ${write}`]);
  });
});

describe("what is gone has no author", () => {
  test.each([
    ["a tool", "delete_file", { path: "src/a.ts" }],
    ["a patch", "apply_patch", { input: "*** Begin Patch\n*** Delete File: src/a.ts\n*** End Patch" }],
    ["a shell command", "bash", { command: "rm src/a.ts" }],
    ["one of several commands", "bash", { command: "cd src && rm -f 'b.ts' a.ts; git status" }],
    ["the removal of its folder", "bash", { command: "rm -rf src" }],
    ["the removal of its folder, which is made again", "bash", { command: "cd /home/me && rm -fr 'p/src/' && mkdir -p p/src" }],
    ["the removal of a folder above it", "bash", { command: "cd ~ && rm --recursive /home/me/p" }],
  ])("a file that %s deleted is of the call that wrote it again", async (_what, name, args) => {
    const session = await inProject();
    const first = await run(session, "write", { path: "src/a.ts", content: FIRST });
    await run(session, name, args);
    const again = await run(session, "write", { path: "src/a.ts", content: FIRST });
    for (const line of await blame(FIRST)) {
      expect(line).not.toBe(`written ${first}`);
      expect(["written", "perhaps"].map((verdict) => `${verdict} ${again}`)).toContain(line);
    }
  });

  test.each([
    ["removed a file of this name elsewhere", "cd dist && rm -f src/a.ts"],
    ["took it out of the index of git", "git rm --cached src/a.ts"],
    ["brought it back", "rm src/a.ts; git checkout -- ."],
    ["wrote a script that removes it", "cat > clean.sh <<'END'\nrm src/a.ts\nEND"],
    ["removed a folder of this name elsewhere", "cd dist && rm -rf src"],
    ["removed a folder whose name begins the same", "rm -rf src/a sr"],
    ["could not remove its folder", "rm -f src"],
    ["brought its folder back", "rm -rf src; git checkout -- ."],
    ["removed its folder only if another one failed", "test -f x || rm -rf src"],
    ["removed it only if another one succeeded", "grep -q two src/a.ts && rm src/a.ts; ls"],
    ["may have failed before it removed its folder", "make && rm -rf src || true"],
  ])("a file keeps its author after a command that %s", async (_what, command) => {
    const session = await inProject();
    const first = await run(session, "write", { path: "src/a.ts", content: FIRST });
    await run(session, "bash", { command });
    for (const line of await blame(FIRST)) expect(line).toMatch(new RegExp(`^(written|perhaps) ${first}$`));
  });

  test.each([
    "rm -rf src",
    "rm -r ../p/src/",
    "git rm -rf src",
    "cd /home/me/p && rm -rf src; ls",
    "make && rm -rf src",
    "true || echo no; rm -rf src",
  ])("a file whose folder %j removed", async (command) => {
    const session = await inProject();
    await run(session, "write", { path: "src/a.ts", content: FIRST });
    await run(session, "bash", { command });
    for (const line of await blame(FIRST)) expect(line).toMatch(/^none -/);
  });

  test("a line that a call removed, and that a person typed again", async () => {
    const session = await inProject();
    const write = await run(session, "write", { path: "src/a.ts", content: FIRST });
    await run(session, "edit", { path: "src/a.ts", old_string: "const two = 2;\n", new_string: "" });
    const found = await blame(FIRST);
    expect([found[0], found[2]]).toEqual([`written ${write}`, `written ${write}`]);
    expect(found[1]).toMatch(/^(none -|perhaps )/);
  });

  test("a line that a shell command changed is of no call for certain", async () => {
    const session = await inProject();
    const write = await run(session, "write", { path: "src/a.ts", content: FIRST });
    await run(session, "bash", { command: "sed -i 's/two = 2/two = 22/' src/a.ts && echo 'const four = 4;' >> src/a.ts" });
    const found = await blame(`${FIRST.replace("= 2", "= 22")}const four = 4;\n`);
    expect([found[0], found[2]]).toEqual([`written ${write}`, `written ${write}`]);
    for (const line of [found[1], found[3]]) expect(line).toMatch(/^(none -|perhaps )/);
  });
});

describe("a hard case", () => {
  test("a file without calls, an empty one, and one of 200,000 lines are answered", async () => {
    expect(await blame(FIRST)).toEqual(Array(3).fill("none -"));
    expect(await blame("")).toEqual(["none -"]);
    const session = await inProject();
    const long = Array.from({ length: 200_000 }, (_, at) => `line ${at} of many\n`).join("");
    await run(session, "write", { path: "src/a.ts", content: long });
    const edit = await run(session, "edit", {
      path: "src/a.ts",
      old_string: "line 17 of many\nline 18",
      new_string: "line 17 of many\nanother line\nline 18",
    });
    const found = await blame(long.replace("line 17 of many\n", "line 17 of many\nanother line\n"));
    expect(found[18]).toBe(`written ${edit}`);
    expect(found).toHaveLength(200_001);
  });

  test("what the user kept private is never named", async () => {
    const session = await inProject();
    await session.append({
      type: "message",
      message: {
        role: "bashExecution",
        command: "cat > src/a.ts <<'END'\nconst one = 1;\nEND",
        output: "",
        exitCode: 0,
        excludeFromContext: true,
      },
    });
    expect(await blame("const one = 1;\n")).toEqual(["none -"]);
  });
});
