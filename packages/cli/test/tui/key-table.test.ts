import { describe, expect, it } from "vitest";
import { actionOf, type KeyTable, keyName, rebindKeys } from "../../src/tui/key-table.js";

const KEYS: KeyTable<"fold" | "up" | "close"> = [
  { action: "fold", keys: ["space"], help: "folds", group: "A" },
  { action: "up", keys: ["up", "k"], help: "up", group: "A" },
  { action: "close", keys: ["escape", "q"], help: "closes", group: "B" },
];

describe("a key table", () => {
  it("tells what a key means", () => {
    expect(actionOf(KEYS, "k")).toBe("up");
    expect(actionOf(KEYS, "z")).toBeUndefined();
  });

  it("takes a person's own keys in place of the usual ones (R194)", () => {
    const keys = rebindKeys(KEYS, { fold: ["h"] });
    expect(actionOf(keys, "h")).toBe("fold");
    expect(actionOf(keys, "space")).toBeUndefined();
  });

  it("gives a key that was chosen for one action to that one only", () => {
    const keys = rebindKeys(KEYS, { fold: ["k"] });
    expect(actionOf(keys, "k")).toBe("fold");
    expect(keys.find(({ action }) => action === "up")?.keys).toEqual(["up"]);
  });

  it.each([
    ["ctrl+d", "Ctrl-D"],
    ["alt+left", "Alt-←"],
    ["pageup", "PgUp"],
    ["shift+enter", "Shift-Enter"],
    ["?", "?"],
    ["G", "G"],
  ])("calls %s what people call it: %s (R192)", (key, name) => {
    expect(keyName(key)).toBe(name);
  });

  it("needs no arrows where there are none", () => {
    expect(keyName("ctrl+left", true)).toBe("Ctrl-Left");
  });
});
