import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseLine, SLASH_COMMANDS } from "../../src/shell/slash-commands.js";
import { opened } from "./opened.js";

/** What the prompt holds. */
const prompt = ({ driven }: Awaited<ReturnType<typeof opened>>) => driven.model.editor.text;

describe("a typed line", () => {
  it.each([
    ["hello", { kind: "message", text: "hello" }],
    ["/tree", { kind: "command", name: "tree", rest: "" }],
    ["/compact the open questions ", { kind: "command", name: "compact", rest: "the open questions" }],
    ["/TREE", { kind: "command", name: "tree", rest: "" }],
    ["//tree is a word", { kind: "message", text: "/tree is a word" }],
    ["/usr/bin is empty", { kind: "message", text: "/usr/bin is empty" }],
    [" /tree", { kind: "message", text: " /tree" }],
    ["/treee", { kind: "unknown", name: "treee", nearest: "tree" }],
    ["/stat", { kind: "unknown", name: "stat", nearest: "stats" }],
    ["/sessoins/import", { kind: "unknown", name: "sessoins/import", nearest: "sessions" }],
    ["/sessions/import ~/x.jsonl", { kind: "unknown", name: "sessions/import", nearest: "sessions" }],
    ["/etc/hosts is broken", { kind: "message", text: "/etc/hosts is broken" }],
    ["/export/home", { kind: "message", text: "/export/home" }],
    ["/models/user.py is broken", { kind: "message", text: "/models/user.py is broken" }],
    ["/sessions/ answers 404", { kind: "message", text: "/sessions/ answers 404" }],
    ["/zebra", { kind: "unknown", name: "zebra", nearest: null }],
  ])("%j", (text, meaning) => {
    expect(parseLine(text)).toEqual(meaning);
  });
});

describe("a notebook", () => {
  it("shows its note once, and stores each message first", async () => {
    const { driven, session } = await opened("");
    expect(driven.printed.join("\n")).toContain("this is a notebook");
    driven.type("remember the milk").press("enter");
    await driven.until(({ status }) => status.depth === 1);
    expect((await session.path()).map((entry) => (entry.type === "message" ? entry.message.role : ""))).toEqual(["user"]);
    expect(driven.printed).toContain("› remember the milk");
    expect(driven.text).toContain("notebook: no model");
  });

  it("shows the end of the session", async () => {
    const { driven } = await opened("u1 a1 call2 res2 a2");
    const printed = driven.printed.join("\n");
    expect(printed).toContain("› said in u1");
    expect(printed).toContain("[read src/call2.ts]");
    expect(printed).toContain("replied in a2");
  });

  it("puts a message that could not be stored back into the prompt, before the text typed since", async () => {
    const here = await opened("u1 a1");
    await here.store.deleteSession("session-1");
    here.driven.type("do not lose this").press("enter").type("and this");
    await here.driven.until(({ notice }) => notice?.isError === true);
    expect(prompt(here)).toBe("do not lose this\n\nand this");
    expect(here.driven.text).toContain("Another process deleted this session.");
  });
});

describe("keys", () => {
  it("Ctrl-C clears, keeps the text in the history, and quits the second time", async () => {
    const here = await opened("u1 a1");
    here.driven.type("half a thought").press("ctrl+c");
    expect([prompt(here), here.driven.result]).toEqual(["", undefined]);
    here.driven.press("up");
    expect(prompt(here)).toBe("half a thought");
    expect(here.driven.press("ctrl+c", "ctrl+c").result).toEqual({ kind: "quit" });
  });

  it("Ctrl-D quits if the prompt is empty, and deletes otherwise", async () => {
    const here = await opened("u1 a1");
    here.driven.type("ab").press("left", "ctrl+d");
    expect([prompt(here), here.driven.result]).toEqual(["a", undefined]);
    expect(here.driven.press("backspace", "ctrl+d").result).toEqual({ kind: "quit" });
  });

  it("Esc twice on an empty prompt, and Ctrl-T, open the tree and keep the draft", async () => {
    const first = await opened("u1 a1");
    expect(first.driven.press("escape").text).toContain("Esc again: the tree");
    expect(first.driven.press("escape").result).toEqual({ kind: "tree", draft: "" });
    const second = await opened("u1 a1");
    expect(second.driven.type("draft").press("ctrl+t").result).toEqual({ kind: "tree", draft: "draft" });
  });

  it("Up shows the previous prompt, and Down the draft", async () => {
    const here = await opened("u1 a1", { history: ["one", "two"] });
    here.driven.type("now").press("up", "up");
    expect(prompt(here)).toBe("one");
    here.driven.press("down", "down");
    expect(prompt(here)).toBe("now");
  });

  it("Tab and Enter accept a completion; a complete command is sent", async () => {
    const here = await opened("u1 a1");
    here.driven.type("/tr");
    expect(here.driven.text).toContain("› /tree");
    expect(prompt({ ...here, driven: here.driven.press("tab") })).toBe("/tree");
    expect(here.driven.press("enter").result).toEqual({ kind: "tree", draft: "" });
  });

  it("a paste of many lines is one message", async () => {
    const { driven, session } = await opened("");
    driven.event({ kind: "paste", text: "first\nsecond\nthird" }).press("enter");
    await driven.until(({ status }) => status.depth === 1);
    expect((await session.path())[0]).toMatchObject({ message: { content: "first\nsecond\nthird" } });
  });

  it("a backslash at the end continues the line", async () => {
    const here = await opened("u1 a1");
    here.driven.type("first\\").press("enter").type("second");
    expect(prompt(here)).toBe("first\nsecond");
  });
});

describe("a draft that was cut", () => {
  it("comes back behind the command that it made room for, and behind a prompt that was cleared", async () => {
    const { driven } = await opened("");
    driven.type("a draft").press("ctrl+u").type("/help").press("enter", "ctrl+y");
    expect(driven.model.editor.text).toBe("a draft");
    driven.press("ctrl+c", "ctrl+y");
    expect(driven.model.editor.text).toBe("a draft");
    driven.press("ctrl+c");
    expect(driven.model.history.filter((text) => text === "a draft")).toHaveLength(1);
  });
});

describe("slash commands", () => {
  it("are all in /help", async () => {
    const { driven } = await opened("u1 a1");
    driven.type("/help").press("enter");
    await driven.until(() => driven.printed.some((line) => line.includes("/quit")));
    for (const { name } of SLASH_COMMANDS) expect(driven.printed.some((line) => line.includes(`/${name}`))).toBe(true);
    expect(Math.max(...driven.printed.map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it.each<[string, RegExp]>([
    ["/stats", /1 session, 2 entries/],
    ["/context", /said in u1/],
    ["/search replied", /1 match/],
    ["/settings", /none \(notebook\)/],
    ["/label the end", /\[the end\]/],
    ["/name Another title", /Another title/],
    ["/export out.md", /written\s*to .*out\.md/],
    ["/import missing.jsonl", /bough: .*missing\.jsonl/],
  ])("%s answers above the prompt", async (line, answer) => {
    const { driven } = await opened("u1 a1");
    const before = driven.printed.length;
    driven.type(line).press("enter");
    await driven.until(() => answer.test(driven.printed.slice(before).join("")));
    expect(driven.model.editor.text).toBe("");
  });

  it("/export does not overwrite a file", async () => {
    const { driven, folder } = await opened("u1 a1");
    for (const _time of [1, 2]) driven.type("/export out.md").press("enter");
    await driven.until(() => /exists\s*and/.test(driven.printed.join("")));
    expect(existsSync(join(folder, "out.md"))).toBe(true);
  });

  it.each(["/search", "/name"])("%s alone names the missing argument", async (line) => {
    const { driven } = await opened("u1 a1");
    driven.type(line).press("enter", "enter");
    await driven.until(({ notice }) => notice?.isError === true);
    expect(driven.text).toMatch(/\?/);
  });

  it("/undo and /redo move the session", async () => {
    const { driven, session } = await opened("u1 a1 u2 a2 <a1");
    driven.type("/undo").press("enter");
    await driven.until(() => session.leafId === "a2");
    driven.type("/redo").press("enter");
    await driven.until(() => session.leafId === "a1");
  });

  it("/fork and /clone open a new session", async () => {
    for (const [line, length] of [
      ["/fork u1", 1],
      ["/clone", 2],
    ] as const) {
      const { driven, store } = await opened("u1 a1");
      driven.type(line).press("enter");
      await driven.until(({ result }) => result !== undefined);
      const { result } = driven;
      const fork = await store.openSession(result?.kind === "open" ? result.sessionId : "");
      expect((await fork.path()).length).toBe(length);
    }
  });

  it("/compact shows its outcome", async () => {
    const { driven } = await opened("u1 a1");
    driven.type("/compact").press("enter");
    await driven.until(({ notice }) => notice !== null);
    expect(driven.text).toContain("Nothing to compact: all messages fit into the kept tail.");
  });

  it("/thinking stores a level in the session, and validates its name", async () => {
    const { driven, session } = await opened("u1 a1");
    driven.type("/thinking high").press("enter");
    await driven.until(() => driven.printed.includes("thinking: high"));
    expect((await session.settings()).thinkingLevel).toBe("high");
    driven.type("/thinking hardest").press("enter");
    await driven.until(({ notice }) => notice?.isError === true);
  });

  it("/new, /sessions and /quit end the shell", async () => {
    for (const [line, result] of [
      ["/new Second try", { kind: "new", title: "Second try", draft: "" }],
      ["/sessions", { kind: "sessions", draft: "" }],
      ["/quit", { kind: "quit" }],
    ] as const) {
      const { driven } = await opened("u1 a1");
      expect(driven.type(line).press("enter").result).toEqual(result);
    }
  });

  it("an unknown one stays in the prompt, with a suggestion", async () => {
    const here = await opened("u1 a1");
    here.driven.type("/treee").press("enter");
    expect(here.driven.text).toContain("did you mean /tree?");
    expect(prompt(here)).toBe("/treee");
  });
});

describe("during a reply", () => {
  it("messages are queued and sent one after the other", async () => {
    const { driven } = await opened("u1 a1");
    driven.event({ kind: "reply-started" }).type("second").press("enter").type("third").press("enter");
    expect(driven.text).toContain("queued: second");
    expect(driven.wanted()).toEqual([]);
    driven.event({ kind: "reply-ended" });
    expect(driven.wanted()).toEqual([{ kind: "send", text: "second" }]);
    driven.event({ kind: "reply-started" }).event({ kind: "reply-ended" });
    expect(driven.wanted()).toEqual([]);
    driven.event({ kind: "line-done" });
    expect(driven.wanted()).toEqual([{ kind: "send", text: "third" }]);
  });

  it("Esc stops it, and other screens do not open", async () => {
    const { driven } = await opened("u1 a1");
    driven.event({ kind: "reply-started" }).event({ kind: "delta", text: "The beginning", activity: "writing" });
    expect(driven.text).toContain("The beginning");
    expect(driven.press("ctrl+t").text).toContain("Esc stops it.");
    driven.press("escape");
    expect([driven.wanted(), driven.text.includes("stopping")]).toEqual([[{ kind: "stop" }], true]);
  });

  it("a tool waits for an answer: once, always, no, or stop", async () => {
    for (const [key, effect] of [
      ["y", { kind: "answer", id: "c1", answer: "yes" }],
      ["a", { kind: "answer", id: "c1", answer: "always" }],
      ["n", { kind: "answer", id: "c1", answer: "no" }],
      ["escape", { kind: "stop" }],
    ] as const) {
      const { driven } = await opened("u1 a1");
      const question = { id: "c1", name: "bash", lines: [["$ rm -rf /"]], isOutside: false };
      driven.event({ kind: "reply-started" }).event({ kind: "ask", question });
      expect(driven.text).toContain("$ rm -rf /");
      expect(driven.wanted()).toEqual([{ kind: "start-answer-delay", id: "c1" }]);
      expect(driven.event({ kind: "answer-delay-passed", id: "c1" }).press("x").wanted()).toEqual([]);
      // Another letter is the beginning of a message; Tab leads back to the question.
      expect(driven.press("tab", key).wanted()).toEqual([effect]);
    }
  });
});

describe("the shell's screen", () => {
  it.each([
    { columns: 40, rows: 9 },
    { columns: 80, rows: 23 },
    { columns: 160, rows: 40 },
  ])("at $columns × $rows", async (size) => {
    const { driven } = await opened("u1 a1 u2 a2 <a1 u3", { size });
    driven.type("/");
    expect(driven.text).toMatchSnapshot("offers");
    driven.press("ctrl+c").event({ kind: "paste", text: `${"日本語 and words ".repeat(12)}\n\u001b[2J\u202eend` });
    expect(driven.text).toMatchSnapshot("prompt");
    driven.event({ kind: "reply-started" }).event({ kind: "delta", text: "word ".repeat(300), activity: "writing" });
    driven.event({ kind: "ask", question: { id: "c1", name: "bash", lines: [["$ ls"]], isOutside: false } });
    expect(driven.text).toMatchSnapshot("question");
    expect(driven.frame.length).toBeLessThanOrEqual(size.rows);
    expect(driven.width).toBeLessThanOrEqual(size.columns);
    expect(driven.frame[driven.cursor?.row ?? -1]).toBeDefined();
  });
});
