import { CONFIG_FILE } from "../agent/chat-model.js";
import { offersRecall } from "../agent/request-frame.js";
import { isGroup } from "../config/config-file.js";
import type { Config } from "../config/schema.js";
import { count } from "../format/numbers.js";
import { wrapLine } from "../format/wrap.js";
import { chooseWindow, describeWindow } from "../session/window-choice.js";
import { type Line, styled } from "../terminal/line.js";
import { safe } from "../terminal/safe.js";
import { padEnd } from "../terminal/width.js";
import type { ShellWorld } from "./world.js";

/** A setting in effect, and its origin; "": the value contains its origin. */
type Row = readonly [name: string, value: string, origin: string];

/**
 * `/settings`: the settings in effect and where each one comes from. `allowed`: tools that the user allowed for this shell.
 * Keys are named by their variables, never shown.
 */
export async function settingsLines(world: ShellWorld, allowed: ReadonlySet<string> = new Set()): Promise<readonly Line[]> {
  const { config, configPath, io } = world;
  const from = (setting: unknown) => (setting === undefined ? "default" : CONFIG_FILE);
  const rows: readonly Row[] = [
    ...(await modelRows(world)),
    await thinkingRow(world),
    ["compaction", config.preset ?? "balanced", from(config.preset)],
    ...compactionRows(config.compaction ?? {}),
    ["summaries", world.model === null ? "without a model" : (config.summaryModel ?? world.model.name), from(config.summaryModel)],
    toolRow(config.tools ?? {}),
    ["  recall", offersRecall(config.tools ?? {}) ? "allow, once there is a summary" : "off", from(config.tools?.recall)],
    ...[...allowed].map((name): Row => [`  ${name}`, "allow", "this shell: answered always"]),
    ["leaving a branch", config.navigator?.leaving ?? "ask", from(config.navigator?.leaving)],
  ];
  const width = io.terminal?.stdout.columns || 80;
  const shown = rows.flatMap(([name, value, origin]) => {
    const note = origin === "" ? [] : [styled("dim", `  (${safe(origin)})`)];
    return wrapLine([padEnd(`  ${name} `, NAME_COLUMNS), styled("bold", safe(value)), ...note], width);
  });
  return [[styled("heading", "Settings"), styled("dim", `  config file: ${safe(configPath)}`)], ...shown, []];
}

const NAME_COLUMNS = 22;

/** The settings that differ from the preset, by their path. */
function compactionRows(group: Readonly<Record<string, unknown>>, above = ""): readonly Row[] {
  return Object.entries(group).flatMap(([name, value]): readonly Row[] => {
    const path = `${above}${name}`;
    if (isGroup(value)) return compactionRows(value, `${path}.`);
    return value === undefined ? [] : [[`  ${path}`, JSON.stringify(value), CONFIG_FILE]];
  });
}

/** Model, address, key and window; without a model the window of the session. */
async function modelRows({ model, session, config }: ShellWorld): Promise<readonly Row[]> {
  if (model === null) {
    const window = await chooseWindow(session, config.window);
    const shown = config.window === undefined ? describeWindow(window) : `${count(window.tokens)} tokens`;
    return [
      ["model", "none (notebook)", "no model is named"],
      ["window", shown, config.window === undefined ? "" : CONFIG_FILE],
    ];
  }
  const { name, provider, address, windowTokens, origin } = model;
  return [
    ["model", name, origin.name],
    ["address", address, origin.address],
    ["protocol", provider, ""],
    ["key", origin.key === null ? "none is sent" : "set", origin.key ?? ""],
    ["window", `${count(windowTokens)} tokens`, origin.window],
  ];
}

async function thinkingRow({ session, config }: ShellWorld): Promise<Row> {
  const { thinkingLevel } = await session.settings();
  if (thinkingLevel !== undefined && thinkingLevel !== null) return ["thinking", thinkingLevel, "this session: /thinking"];
  return ["thinking", config.thinking ?? "that of the server", config.thinking === undefined ? "default" : CONFIG_FILE];
}

function toolRow({ recall: _recall, ...tools }: NonNullable<Config["tools"]>): Row {
  const on = Object.entries(tools).filter(([, permission]) => permission !== undefined && permission !== "off");
  const text = on.length === 0 ? "off" : on.map(([name, permission]) => `${name} ${permission}`).join(", ");
  return ["tools", text, Object.keys(tools).length === 0 ? "default" : CONFIG_FILE];
}
