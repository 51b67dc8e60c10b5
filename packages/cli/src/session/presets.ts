import type { PresetName } from "@bough/compaction";

// A record, so that a preset that is added there does not compile until it is here. The package itself is not loaded:
// the help needs the names at every start.
const PRESETS: Readonly<Record<PresetName, true>> = {
  balanced: true,
  pi: true,
  "copilot-cli": true,
  vscode: true,
  "co-cli": true,
  "python-agent": true,
};

/** The names of the presets, ours first. */
export const PRESET_NAMES: readonly string[] = Object.keys(PRESETS);

export type { PresetName };
