import { expect, test } from "vitest";
import { runScreen } from "../../src/tui/run-screen.js";
import { withoutEffects } from "../../src/tui/screen.js";
import { recordingTerminal } from "./recording-terminal.js";

test("the terminal is in raw mode before the first frame is drawn, and restored at the end", async () => {
  const { terminal, stdin, events, written } = recordingTerminal();
  const ended = runScreen<string, never, never, string>(terminal, {
    kind: "inline",
    start: () => withoutEffects("typing"),
    update: (model, event) => withoutEffects(event.kind === "key" && event.key === "q" ? "over" : model),
    view: (model) => ({ lines: [{ line: [`now ${model}`] }] }),
    performer: () => ({ perform: () => undefined, end: () => undefined }),
    result: (model) => (model === "over" ? model : undefined),
  });
  await written("now typing");
  stdin.write("q");
  expect(await ended).toBe("over");
  const frame = events.findIndex((event) => event.includes("now typing"));
  expect(events.slice(0, frame)).toContain("raw true");
  expect(events.filter((event) => event.startsWith("raw ")).at(-1)).toBe("raw false");
});

test.each(["full", "inline"] as const)("an error of a screen restores the terminal before it is thrown: %s", async (kind) => {
  const { terminal, stdin, events, written } = recordingTerminal();
  const ended = runScreen<string, never, never, string>(terminal, {
    kind,
    hasMouse: true,
    start: () => withoutEffects("whole"),
    update: () => withoutEffects("broken"),
    view: (model) => {
      if (model === "broken") throw new RangeError("cannot be drawn");
      return { lines: [{ line: [`now ${model}`] }] };
    },
    performer: () => ({ perform: () => undefined, end: () => undefined }),
    result: () => undefined,
  });
  await written("now whole");
  stdin.write("x");
  await expect(ended).rejects.toThrow("cannot be drawn");
  expect(events.filter((event) => event.startsWith("raw ")).at(-1)).toBe("raw false");
  const modes = (final: string) =>
    [...events.join("").matchAll(new RegExp(`\u001b\\[\\?(1049|1000|1006|2004)${final}`, "g"))].map(([, mode]) => mode);
  expect(modes("l").toSorted()).toEqual(modes("h").toSorted());
  expect(events.join("").lastIndexOf("\u001b[?25h")).toBeGreaterThan(events.join("").lastIndexOf("\u001b[?25l"));
});

test("an inline screen draws nothing while its size changes, and is then erased once, for the last size", async () => {
  const { terminal, stdin, events, written } = recordingTerminal();
  const resize = (columns: number) => {
    Object.assign(terminal.stdout, { columns });
    terminal.stdout.emit("resize");
  };
  const ended = runScreen<string, never, never, string>(terminal, {
    kind: "inline",
    start: ({ columns }) => withoutEffects(`${columns} wide`),
    update: (model, event) => {
      if (event.kind === "resize") return withoutEffects(`${event.size.columns} wide`);
      return withoutEffects(event.kind === "key" && event.key === "q" ? "over" : model);
    },
    view: (model) => ({ lines: [{ line: [model] }] }),
    performer: () => ({ perform: () => undefined, end: () => undefined }),
    result: (model) => (model === "over" ? model : undefined),
  });
  await written("40 wide");
  const before = events.length;
  for (const columns of [30, 20, 60]) resize(columns);
  stdin.write("x");
  await written("60 wide");
  const since = events.slice(before).join("");
  expect(since).not.toMatch(/[23]0 wide/);
  expect(since.split("\u001b[J")).toHaveLength(2);
  stdin.write("q");
  expect(await ended).toBe("over");
});

test("a suspended screen draws nothing, and everything when it goes on", async () => {
  const { terminal, stdin, events, written, resume } = recordingTerminal();
  let dispatch: (event: { readonly kind: "told"; readonly text: string }) => void = () => undefined;
  const ended = runScreen<string, "listen", { readonly kind: "told"; readonly text: string }, string>(terminal, {
    kind: "full",
    start: () => ({ model: "begun", effects: ["listen"] }),
    update: (model, event) => withoutEffects(event.kind === "told" ? event.text : event.kind === "key" ? "over" : model),
    view: (model) => ({ lines: [{ line: ["title"] }, { line: [`now ${model}`] }] }),
    performer: (host) => {
      dispatch = host.dispatch;
      return { perform: () => undefined, end: () => undefined };
    },
    result: (model) => (model === "over" ? model : undefined),
  });
  await written("now begun");
  stdin.write("\u001a");
  await written("\u001b[?1049l");
  const before = events.length;
  dispatch({ kind: "told", text: "changed" });
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  expect(events).toHaveLength(before);
  resume();
  await written("now changed");
  expect(events.slice(before).join("")).toMatch(/^raw true[\s\S]*1049h[\s\S]*title[\s\S]*now changed/);
  stdin.write("q");
  expect(await ended).toBe("over");
});
