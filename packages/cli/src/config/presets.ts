import type { PresetName } from "@bough/compaction";

/** The presets of @bough/compaction by name. This file does not load that package, because every help text lists the names. */
export const PRESETS: { readonly [Name in PresetName]: Name } = {
  balanced: "balanced",
  pi: "pi",
  "oh-my-pi": "oh-my-pi",
  "copilot-cli": "copilot-cli",
  vscode: "vscode",
  "co-cli": "co-cli",
  "python-agent": "python-agent",
};

/** The names of the presets, the default first. */
export const PRESET_NAMES: readonly PresetName[] = Object.values(PRESETS);

export type { PresetName };
