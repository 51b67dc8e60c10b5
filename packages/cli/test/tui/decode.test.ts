import { describe, expect, it } from "vitest";
import { Clicks, decodeSequence } from "../../src/tui/decode.js";
import { SequenceSplitter } from "../../src/tui/input.js";
import type { TerminalEvent } from "../../src/tui/screen.js";

const ESC = "\u001b";

/** The events of input that arrives in chunks. */
function eventsOf(...chunks: readonly string[]): readonly TerminalEvent[] {
  const splitter = new SequenceSplitter();
  const sequences = [...chunks.flatMap((chunk) => splitter.push(chunk)), splitter.flush()];
  return sequences.flatMap((sequence) => (sequence === "" ? [] : decodeSequence(sequence)));
}

/** The keys and pastes of input that arrives in chunks. */
function keysOf(...chunks: readonly string[]): readonly string[] {
  return eventsOf(...chunks).map((event) => (event.kind === "key" ? event.key : event.kind === "paste" ? `paste:${event.text}` : ""));
}

describe("what terminals send for keys", () => {
  it.each([
    ["\r", "enter"],
    ["\n", "ctrl+j"],
    ["\t", "tab"],
    ["\u007f", "backspace"],
    ["\b", "backspace"],
    [ESC, "escape"],
    ["\u0000", "ctrl+space"],
    ["\u0003", "ctrl+c"],
    ["\u000f", "ctrl+o"],
    [" ", "space"],
    ["a", "a"],
    ["G", "G"],
    ["é", "é"],
    ["你", "你"],
    ["👩‍👩‍👧", "👩‍👩‍👧"],
    [`${ESC}[A`, "up"],
    [`${ESC}OA`, "up"],
    [`${ESC}[1;5D`, "ctrl+left"],
    [`${ESC}[1;3C`, "alt+right"],
    [`${ESC}${ESC}[C`, "alt+right"],
    [`${ESC}[1;2A`, "shift+up"],
    [`${ESC}[1;7A`, "ctrl+alt+up"],
    [`${ESC}Od`, "ctrl+left"],
    [`${ESC}[a`, "shift+up"],
    [`${ESC}[H`, "home"],
    [`${ESC}[1~`, "home"],
    [`${ESC}[7~`, "home"],
    [`${ESC}[F`, "end"],
    [`${ESC}[3~`, "delete"],
    [`${ESC}[5~`, "pageup"],
    [`${ESC}[6;5~`, "ctrl+pagedown"],
    [`${ESC}[Z`, "shift+tab"],
    [`${ESC}\r`, "alt+enter"],
    [`${ESC}\u007f`, "alt+backspace"],
    [`${ESC}b`, "alt+b"],
    [`${ESC}[13;2u`, "shift+enter"],
    [`${ESC}[27;2;13~`, "shift+enter"],
    [`${ESC}[111;6u`, "ctrl+shift+o"],
  ])("%j is %s", (sequence, key) => {
    expect(keysOf(sequence)).toEqual([key]);
  });

  it("Delete is not Backspace", () => {
    expect(keysOf(`${ESC}[3~`, "\u007f")).toEqual(["delete", "backspace"]);
  });

  it("caps lock and num lock change nothing", () => {
    // Modifier 65: caps lock alone; 129: num lock alone; 133: num lock and Ctrl.
    expect(keysOf(`${ESC}[1;65A`, `${ESC}[1;129B`, `${ESC}[1;133D`)).toEqual(["up", "down", "ctrl+left"]);
  });

  it("several keys in one chunk are single keys", () => {
    expect(keysOf("ab\rc")).toEqual(["a", "b", "enter", "c"]);
  });

  it("sequences without a key are dropped: replies of the terminal, focus, unknown functions", () => {
    expect(keysOf(`${ESC}[?62;4c`, `${ESC}[I`, `${ESC}[99~`, `${ESC}[200`)).toEqual([]);
  });

  it("keys that type text have it", () => {
    const [a] = decodeSequence("a");
    const [space] = decodeSequence(" ");
    const [up] = decodeSequence(`${ESC}[A`);
    expect([a, space, up]).toEqual([
      { kind: "key", key: "a", text: "a" },
      { kind: "key", key: "space", text: " " },
      { kind: "key", key: "up" },
    ]);
  });
});

describe("pastes", () => {
  it("without brackets are detected by their length", () => {
    expect(keysOf("x\r".repeat(600))).toEqual([`paste:${"x\n".repeat(600)}`]);
  });

  it("are one event, including newlines, and contain no keys", () => {
    expect(keysOf(`${ESC}[200~`, "rm -rf x\r", "q", `${ESC}[A`, "\r\nend", `${ESC}[201~`, "q")).toEqual([
      `paste:rm -rf x\nq${ESC}[A\nend`,
      "q",
    ]);
  });
});

describe("what terminals send for the mouse (SGR)", () => {
  it.each([
    [
      "a paste with an unfinished report ends",
      ["\u001b[200~", "a\u001b[<1", "\u001b[<12", "\u001b[201~", "j"],
      ["paste:a\u001b[<1\u001b[<12", "j"],
    ],
    ["the key after an unfinished report counts", ["\u001b[<0;3", "\u001b[A"], ["up"]],
    ["Ctrl+C after an unfinished report counts", ["\u001b[<", "\u0003"], ["ctrl+c"]],
    ["text in one piece with the end of a report counts", ["\u001b[<0;3", ";4Mjk"], ["", "j", "k"]],
  ])("%s", (_what, sequences, keys) => {
    expect(keysOf(...sequences)).toEqual(keys);
  });

  it.each([
    ["0;1;1M", { kind: "mouse", action: "press", column: 0, row: 0 }],
    ["64;10;5M", { kind: "mouse", action: "wheelUp", column: 9, row: 4 }],
    ["65;300;90M", { kind: "mouse", action: "wheelDown", column: 299, row: 89 }],
    // With Shift, Alt and Ctrl.
    ["28;3;4M", { kind: "mouse", action: "press", column: 2, row: 3 }],
  ])("%s", (sequence, event) => {
    expect(eventsOf(`${ESC}[<${sequence}`)).toEqual([event]);
  });

  it.each(["0;1;1m", "1;1;1M", "2;1;1M", "3;1;1M", "32;1;1M", "35;1;1M", "66;1;1M", "128;1;1M"])(
    "drops %s: releases, motion, other buttons",
    (sequence) => {
      expect(eventsOf(`${ESC}[<${sequence}`)).toEqual([]);
    },
  );

  it("joins a report that arrived in parts, and types nothing of it", () => {
    for (const parts of [
      [`${ESC}[<`, "64;10;5M"],
      [`${ESC}[<6`, "4;1", "0;5M"],
      [`${ESC}[<64;10;5`, "M"],
    ])
      expect(eventsOf(...parts, "j")).toEqual([
        { kind: "mouse", action: "wheelUp", column: 9, row: 4 },
        { kind: "key", key: "j", text: "j" },
      ]);
  });

  it("leaves a report inside a paste to the text", () => {
    expect(eventsOf(`${ESC}[200~`, `${ESC}[<0;1;1M`, `${ESC}[201~`)).toEqual([{ kind: "paste", text: `${ESC}[<0;1;1M` }]);
  });
});

describe("clicks", () => {
  const press = { kind: "mouse", action: "press", column: 4, row: 2 } as const;

  it("are double on one cell within 0.4 s; the third one begins anew", () => {
    const clicks = new Clicks();
    expect([0, 300, 500, 1000].map((atMs) => clicks.count(press, atMs).isDouble ?? false)).toEqual([false, true, false, false]);
  });

  it("are single on two cells, and steps of the wheel are none", () => {
    const clicks = new Clicks();
    expect(clicks.count(press, 0).isDouble).toBeUndefined();
    expect(clicks.count({ ...press, row: 3 }, 100).isDouble).toBeUndefined();
    const wheel = { ...press, action: "wheelUp", row: 3 } as const;
    expect(clicks.count(wheel, 150)).toBe(wheel);
  });
});
