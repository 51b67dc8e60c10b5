import { rules } from "@bough/session-core/internals";
import type { z } from "zod";
import { InvalidSettingError } from "../errors/compaction-errors.js";
import { PRESETS, type PresetName } from "./presets.js";
import { type CompactionSettings, type SettingsInput, settingsSchema } from "./settings.js";

/** What a host may give: a preset's name, or settings with the preset they start from (default `balanced`). */
export type SettingsSource = PresetName | (SettingsInput & { readonly preset?: PresetName | undefined });

/**
 * The settings that a host's words mean: its own over the preset's over the defaults.
 *
 * @throws {InvalidSettingError} naming the field that is unknown or out of range.
 * @example
 * readSettings({ preset: "pi", keep: { recentTokens: 8_000 } }).trigger.reserveTokens; // 16384
 */
export function readSettings(given: SettingsSource = {}): CompactionSettings {
  if (typeof given !== "string") rules.checkArgument("settings", given, rules.OBJECT);
  const { preset = "balanced", ...own } = typeof given === "string" ? { preset: given } : given;
  if (typeof preset !== "string" || !Object.hasOwn(PRESETS, preset)) {
    throw new InvalidSettingError("preset", `must be one of ${Object.keys(PRESETS).join(", ")}`);
  }
  const judged = settingsSchema.safeParse(mergeSettings(PRESETS[preset], own));
  if (judged.success) return judged.data;
  throw settingErrorOf(judged.error);
}

function settingErrorOf(error: z.ZodError): InvalidSettingError {
  const [issue] = error.issues;
  const unknown = issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  const field = [...(issue?.path ?? []), ...unknown].join(".");
  return new InvalidSettingError(field, unknown.length > 0 ? "there is no such setting" : (issue?.message ?? "is not valid"));
}

type Group = Readonly<Record<string, unknown>>;

/** `own` over `base`, group by group; lists are replaced whole. */
function mergeSettings(base: Group, own: Group): Group {
  const all: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(own)) {
    if (value === undefined) continue;
    const under = all[key];
    all[key] = isGroup(value) && isGroup(under) ? mergeSettings(under, value) : value;
  }
  return all;
}

function isGroup(value: unknown): value is Group {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
