// Writes the table of settings in docs/compaction.md from the schema, so that it cannot drift. A test compares them.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { withPart } from "./page-part.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const page = join(root, "docs/compaction.md");

/** One row for each setting, in the order of the schema; groups are walked into. */
function rowsOf(schema, presets, path = []) {
  return Object.entries(schema.properties).flatMap(([name, about]) => {
    const here = [...path, name];
    if (about.properties !== undefined && about.description === undefined) return rowsOf(about, presets, here);
    return [`| \`${here.join(".")}\` | ${code(about.default)} | ${about.description ?? ""}${others(here, presets)} |`];
  });
}

function code(value) {
  return `\`${JSON.stringify(value)}\``;
}

/** What presets have instead of the default. */
function others(path, presets) {
  const differing = Object.entries(presets).flatMap(([name, values]) => {
    const value = path.reduce((under, key) => under?.[key], values);
    return value === undefined ? [] : [`${name} ${code(value)}`];
  });
  return differing.length === 0 ? "" : ` **${differing.join(", ")}.**`;
}

/** The page with its table as the schema has it now. */
export async function settingsPage() {
  const { settingsJsonSchema, PRESETS } = await import(join(root, "packages/compaction/dist/index.js"));
  const rows = rowsOf(settingsJsonSchema(), PRESETS);
  const table = `| setting | default | what it does; what presets have instead |\n|---|---|---|\n${rows.join("\n")}`;
  return withPart(readFileSync(page, "utf8"), "settings: written by node .ci/settings.mjs", table);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(page, await settingsPage());
