import { describe, expect, test } from "vitest";
import { PRESETS, type PresetName } from "../../src/settings/presets.js";
import { readSettings, type SettingsSource } from "../../src/settings/read-settings.js";

/** The field that is refused. */
function refused(given: unknown): string {
  try {
    readSettings(given as SettingsSource);
  } catch (error) {
    if (error instanceof Error && "field" in error) return `${String((error as { code?: unknown }).code)} ${String(error.field)}`;
    throw error;
  }
  return "nothing";
}

describe("settings", () => {
  test.each(Object.keys(PRESETS) as PresetName[])("the preset %s is valid", (name) => {
    expect(readSettings(name)).toMatchObject(PRESETS[name]);
  });

  test("what a host says counts over the preset, member by member", () => {
    const settings = readSettings({ preset: "copilot-cli", background: { start: 0.7 } });
    expect(settings.background).toMatchObject({ start: 0.7, blockAtShare: 0.95 });
    expect(settings.keep.by).toBe("nothing");
  });

  test("a member that is undefined is as if it were not there", () => {
    expect(readSettings({ preset: "pi", keep: { recentTokens: undefined } }).keep.recentTokens).toBe(20_000);
  });

  test.each<[unknown, string]>([
    [{ preset: "emacs" }, "preset"],
    [{ keep: { recentTokens: -1 } }, "keep.recentTokens"],
    [{ keep: { recentTokens: 1.5 } }, "keep.recentTokens"],
    [{ keep: { recentTokens: "20k" } }, "keep.recentTokens"],
    [{ keep: { recentToken: 1 } }, "keep.recentToken"],
    [{ background: { start: 80 } }, "background.start"],
    [{ trigger: { threshold: 0 } }, "trigger.threshold"],
    [{ trigger: { threshold: 1.5 } }, "trigger.threshold"],
    [{ trigger: { threshold: 99 } }, "trigger.threshold"],
    [{ window: { limit: 50 } }, "window.limit"],
    [{ summary: { mode: "fast" } }, "summary.mode"],
    [{ perModel: { "a/b": { reserveTokens: -5 } } }, "perModel.a/b.reserveTokens"],
  ])("%j is refused and its field named", (given, field) => {
    expect(refused(given)).toBe(`INVALID_SETTING ${field}`);
  });

  test.each([0.01, 1, 100, 150_000])("a threshold of %s is a share or a number of tokens", (threshold) => {
    expect(readSettings({ trigger: { threshold } }).trigger.threshold).toBe(threshold);
  });
});

describe("a misspelled setting", () => {
  test.each<[unknown, string]>([
    [{ sumary: { retries: 3 } }, "unknown setting 'sumary.retries': did you mean 'summary.retries'?"],
    [{ summary: { retrys: 3 } }, "unknown setting 'summary.retrys': did you mean 'summary.retries'?"],
    [{ keep: { recentToken: 1 } }, "unknown setting 'keep.recentToken': did you mean 'keep.recentTokens'?"],
    [{ keep: { maxMessages: 1 } }, "unknown setting 'keep.maxMessages': did you mean 'trigger.maxMessages'?"],
    [{ reserveToken: 1 }, "unknown setting 'reserveToken': did you mean 'trigger.reserveTokens'?"],
    [{ enabeld: false }, "unknown setting 'enabeld': did you mean 'enabled'?"],
    [
      { perModel: { "a/b": { reserveToken: 5 } } },
      "unknown setting 'perModel.a/b.reserveToken': did you mean 'perModel.a/b.reserveTokens'?",
    ],
    [{ colour: "red" }, expect.stringMatching(/^unknown setting 'colour': there are enabled, .*, perModel$/)],
    [{ keep: { zzzz: 1 } }, expect.stringMatching(/^unknown setting 'keep.zzzz': there are keep.by, keep.recentTokens, /)],
    [
      { preset: "copilot" },
      "compaction setting 'preset': must be one of balanced, pi, oh-my-pi, copilot-cli, vscode, co-cli, python-agent",
    ],
    [{ preset: "vs-code" }, expect.stringMatching(/did you mean 'vscode'\?$/)],
  ])("%j is answered with the nearest one", (given, message) => {
    expect(() => readSettings(given as SettingsSource)).toThrow(expect.objectContaining({ message }));
  });
});
