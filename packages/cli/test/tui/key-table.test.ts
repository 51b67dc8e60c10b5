import { describe, expect, it } from "vitest";
import { actionOf, type KeyTable, keyName, rebindKeys } from "../../src/tui/key-table.js";

const KEYS: KeyTable<"fold" | "up" | "close"> = [
  { action: "fold", keys: ["space"], help: "folds", group: "A" },
  { action: "up", keys: ["up", "k"], help: "up", group: "A" },
  { action: "close", keys: ["escape", "q"], help: "closes", group: "B" },
];

describe("a key table", () => {
  it("finds the action of a key", () => {
    expect(actionOf(KEYS, "k")).toBe("up");
    expect(actionOf(KEYS, "z")).toBeUndefined();
  });

  it("replaces default keys by the user's own keys", () => {
    const keys = rebindKeys(KEYS, { fold: ["h"] });
    expect(actionOf(keys, "h")).toBe("fold");
    expect(actionOf(keys, "space")).toBeUndefined();
  });

  it("removes a key that is set for one action from all others", () => {
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
  ])("prints the name of %s: %s", (key, name) => {
    expect(keyName(key)).toBe(name);
  });

  it("names arrows in ASCII if asked to", () => {
    expect(keyName("ctrl+left", true)).toBe("Ctrl-Left");
  });
});
