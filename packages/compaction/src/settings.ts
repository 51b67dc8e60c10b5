// `@bough/compaction/settings`: the schema of the settings without the compactor, for programs that read settings from a file.
export { InvalidSettingError } from "./errors/compaction-errors.js";
export { PRESETS, type PresetName } from "./settings/presets.js";
export { findNearestSetting, readSettings, type SettingsSource } from "./settings/read-settings.js";
export { type CompactionSettings, type SettingsInput, settingsJsonSchema, settingsSchema } from "./settings/settings.js";
