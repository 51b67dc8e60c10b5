import { describe, expect, it } from "vitest";
import { InputDecoder } from "../../src/tui/decode.js";

const ESC = "\u001b";

/** The keys that some sequences mean, one after the other. */
function keysOf(...sequences: readonly string[]): readonly string[] {
  const decoder = new InputDecoder();
  return sequences.flatMap((sequence) =>
    decoder.decode(sequence).map((event) => (event.kind === "key" ? event.key : event.kind === "paste" ? `paste:${event.text}` : "")),
  );
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

  it("Delete is not Backspace (Ink's own hook reports it so)", () => {
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
    const [a] = new InputDecoder().decode("a");
    const [space] = new InputDecoder().decode(" ");
    const [up] = new InputDecoder().decode(`${ESC}[A`);
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
