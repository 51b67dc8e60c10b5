import * as rules from "@bough/session-core/arguments";
import { findNearest } from "@bough/session-core/view";
import { isObject, type JsonObject } from "@bough/session-core/wire";
import type { z } from "zod";
import { InvalidSettingError } from "../errors/compaction-errors.js";
import { PRESETS, type PresetName } from "./presets.js";
import { type CompactionSettings, type SettingsInput, settingsJsonSchema, settingsSchema } from "./settings.js";

/** A preset's name, or settings with the preset that they change (default `balanced`). */
export type SettingsSource = PresetName | (SettingsInput & { readonly preset?: PresetName | undefined });

/**
 * Validates settings and fills in the rest from the preset, then from the defaults.
 *
 * @throws {InvalidSettingError} a setting is unknown or its value is invalid; the error names the setting and, if it may be
 *   misspelled, the nearest one.
 * @example
 * readSettings({ preset: "pi", keep: { recentTokens: 8_000 } }).trigger.reserveTokens; // 16384
 */
export function readSettings(given: SettingsSource = {}): CompactionSettings {
  if (typeof given !== "string") rules.checkArgument("settings", given, rules.OBJECT);
  const { preset = "balanced", ...own } = typeof given === "string" ? { preset: given } : given;
  if (typeof preset !== "string" || !Object.hasOwn(PRESETS, preset)) throw unknownPreset(preset);
  const parsed = settingsSchema.safeParse(mergeSettings(PRESETS[preset], own));
  if (parsed.success) return parsed.data;
  throw settingErrorOf(parsed.error, own);
}

function unknownPreset(given: unknown): InvalidSettingError {
  const names = Object.keys(PRESETS);
  const nearest = typeof given === "string" ? findNearest(given, names) : undefined;
  const question = nearest === undefined ? "" : `; did you mean '${nearest}'?`;
  return new InvalidSettingError("preset", `must be one of ${names.join(", ")}${question}`);
}

function settingErrorOf({ issues: [issue] }: z.ZodError, own: JsonObject): InvalidSettingError {
  const path = (issue?.path ?? []).map(String);
  if (issue?.code === "unrecognized_keys") return unknownSetting([...path, issue.keys[0] ?? ""], own);
  return new InvalidSettingError(path.join("."), issue?.message ?? "is not valid");
}

/** An unknown group is reported with its first setting, because the nearest setting is found by the whole path. */
function unknownSetting(path: readonly string[], own: JsonObject): InvalidSettingError {
  const value = path.reduce<unknown>((under, key) => (isObject(under) ? under[key] : undefined), own);
  const inner = isObject(value) ? Object.keys(value)[0] : undefined;
  const unknown = (inner === undefined ? path : [...path, inner]).join(".");
  const nearest = findNearestSetting(unknown.split("."));
  const rest = nearest === undefined ? `: there are ${groupsOf(path)}` : `: did you mean '${nearest}'?`;
  return new InvalidSettingError(path.join("."), "there is no such setting", `unknown setting '${unknown}'${rest}`);
}

/** The settings of the group that was named, else the groups. */
function groupsOf([group, name]: readonly string[]): string {
  const known = settingPaths(settingsJsonSchema(), undefined);
  const own = known.filter((setting) => name !== undefined && setting.startsWith(`${group}.`));
  return (own.length > 0 ? own : [...new Set(known.map((setting) => setting.split(".", 1)[0] ?? ""))]).join(", ");
}

/**
 * The setting that a misspelled or misplaced one probably means, as `group.name`: by the whole path, else the setting of that name
 * in another group, else a similar name in any group. undefined: none is similar.
 *
 * @example
 * findNearestSetting(["recentTokens"]); // "keep.recentTokens"
 */
export function findNearestSetting(path: readonly string[]): string | undefined {
  const unknown = path.join(".");
  const known = settingPaths(settingsJsonSchema(), path[0] === "perModel" ? path[1] : undefined);
  const names = known.map(lastName);
  const name = lastName(unknown);
  const similar = names.includes(name) ? name : findNearest(name, names);
  return findNearest(unknown, known) ?? known.find((one) => lastName(one) === similar);
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1);
}

/** The paths of all settings, with those of `model` below `perModel`. */
function settingPaths(schema: unknown, model: string | undefined, path: readonly string[] = []): readonly string[] {
  if (!isObject(schema)) return [];
  const perModel = model !== undefined && path.at(-1) === "perModel" ? { [model]: schema["additionalProperties"] } : undefined;
  const properties = perModel ?? schema["properties"];
  if (!isObject(properties)) return [path.join(".")];
  return Object.entries(properties).flatMap(([name, inner]) => settingPaths(inner, model, [...path, name]));
}

/** `own` over `base`, group by group. Lists are replaced as a whole; undefined is ignored. */
function mergeSettings(base: JsonObject, own: JsonObject): JsonObject {
  const all: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(own)) {
    if (value === undefined) continue;
    const under = all[key];
    all[key] = isObject(value) && isObject(under) ? mergeSettings(under, value) : value;
  }
  return all;
}
