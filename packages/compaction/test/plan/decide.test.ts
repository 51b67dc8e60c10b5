import { describe, expect, test } from "vitest";
import { decide, type Situation } from "../../src/plan/decide.js";
import { limitsOf } from "../../src/plan/limits.js";
import { readSettings, type SettingsSource } from "../../src/settings/read-settings.js";

const WINDOW = 100_000;

function never(): number {
  throw new Error("the random source was asked");
}

/** What is decided when so much of a window of 100,000 tokens is used. */
function decided(source: SettingsSource, usedTokens: number, about: Partial<Situation> = {}, random = never) {
  const settings = readSettings(source);
  const situation: Situation = {
    usedTokens,
    messages: 10,
    limits: limitsOf(settings, WINDOW, null),
    background: "idle",
    stalled: false,
    startedAlready: false,
    warm: true,
    turnOpen: true,
    isTurnEnd: false,
    ...about,
  };
  return decide(situation, settings, random);
}

describe("pi", () => {
  test.each([
    ["at the window less the reserve", WINDOW - 16_384, "nothing"],
    ["one token above it", WINDOW - 16_383, "compact"],
  ])("compacts strictly above its threshold: %s", (_name, used, expected) => {
    expect(decided("pi", used)).toBe(expected);
  });

  test("reserves 15 % of the window if that is more than the reserve, with reserveShare", () => {
    const settings = { preset: "pi", trigger: { reserveTokens: 1_000, reserveShare: 0.15 } } as const;
    expect(decided(settings, 85_000)).toBe("nothing");
    expect(decided(settings, 85_001)).toBe("compact");
  });

  test("prefers a threshold in percent or tokens to the reserve", () => {
    expect(decided({ preset: "pi", trigger: { threshold: 0.5 } }, 50_001)).toBe("compact");
    expect(decided({ preset: "pi", trigger: { threshold: 30_000 } }, 30_001)).toBe("compact");
    expect(decided({ preset: "pi", trigger: { threshold: 30_000 } }, 30_000)).toBe("nothing");
  });
});

describe("Copilot CLI", () => {
  test.each([
    ["below 80 %", 79_999, {}, "nothing"],
    ["at 80 %", 80_000, {}, "start-background"],
    ["at 80 % with fewer than 4 messages", 80_000, { messages: 3 }, "nothing"],
    ["at 80 % when a run was started and nothing changed since", 80_000, { startedAlready: true }, "nothing"],
    ["below 95 % while a run is on", 94_999, { background: "running" as const }, "nothing"],
    ["at 95 % while a run is on", 95_000, { background: "running" as const }, "wait"],
    ["above 95 % with no run", 95_001, {}, "compact"],
    ["with a finished run, whatever the fill", 10_000, { background: "ready" as const }, "apply"],
  ])("%s", (_name, used, about, expected) => {
    expect(decided("copilot-cli", used, about)).toBe(expected);
  });
});

describe("VS Code", () => {
  test("starts between 78 and 82 % while the cache is warm, by its random source", () => {
    expect(decided("vscode", 78_000, {}, () => 0)).toBe("start-background");
    expect(decided("vscode", 77_999, {}, () => 0)).toBe("nothing");
    expect(decided("vscode", 81_999, {}, () => 0.999_999)).toBe("nothing");
    expect(decided("vscode", 82_000, {}, () => 0.999_999)).toBe("start-background");
  });

  test("waits for 90 % while the cache is cold, and does not call the random source", () => {
    expect(decided("vscode", 89_999, { warm: false })).toBe("nothing");
    expect(decided("vscode", 90_000, { warm: false })).toBe("start-background");
  });

  test("discards a finished summary if the context is below 65 %", () => {
    expect(decided("vscode", 64_999, { background: "ready" })).toBe("discard");
    expect(decided("vscode", 65_000, { background: "ready" })).toBe("apply");
  });
});

describe("oh-my-pi's speculative run", () => {
  const speculative = { preset: "pi", background: { leadShare: 0.125, apply: "threshold" } } as const;
  // The threshold is 83,616, and 12.5 % of it are 10,452.
  test("starts one lead before the threshold", () => {
    expect(decided(speculative, 83_616 - 10_453)).toBe("nothing");
    expect(decided(speculative, 83_616 - 10_452)).toBe("start-background");
  });

  test("keeps its result until the threshold is crossed", () => {
    expect(decided(speculative, 83_616, { background: "ready" })).toBe("nothing");
    expect(decided(speculative, 83_617, { background: "ready" })).toBe("apply");
  });
});

describe("co-cli", () => {
  test("compacts above 40 messages, whatever their tokens", () => {
    expect(decided("co-cli", 10, { messages: 40 })).toBe("nothing");
    expect(decided("co-cli", 10, { messages: 41 })).toBe("compact");
  });

  test("compacts above half of the window", () => {
    expect(decided("co-cli", 50_001)).toBe("compact");
  });
});

describe("the Python agent", () => {
  test("does not compact inside a turn, but at its end", () => {
    expect(decided("python-agent", 99_000, { turnOpen: true })).toBe("nothing");
    expect(decided("python-agent", 99_000, { turnOpen: false })).toBe("compact");
    expect(decided("python-agent", 99_000, { turnOpen: true, isTurnEnd: true })).toBe("compact");
  });

  test("compacts before the first request of a turn, for hosts that do not call turnEnded", () => {
    expect(decided("python-agent", 99_000, { turnOpen: true, warm: false })).toBe("compact");
  });

  test("compacts inside a turn only if the request would not fit the window", () => {
    expect(decided("python-agent", WINDOW, { turnOpen: true })).toBe("nothing");
    expect(decided("python-agent", WINDOW + 1, { turnOpen: true })).toBe("compact");
  });
});

describe("in any case", () => {
  test("nothing happens if automatic compaction is off", () => {
    expect(decided({ enabled: false }, 99_999)).toBe("nothing");
    expect(decided({ enabled: false }, 99_999, { background: "ready" })).toBe("discard");
  });

  test("nothing happens during a pause", () => {
    expect(decided("balanced", 99_999, { stalled: true })).toBe("nothing");
  });
});
