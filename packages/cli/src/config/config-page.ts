import { configJsonSchema } from "./schema.js";

const INTRO = `# The config file

Made by \`node .ci/docs.mjs\` from the schema; do not edit.

\`bough/config.json\` in \`XDG_CONFIG_HOME\`, or \`~/.config\`. Every setting may be left out, and so may the file. A setting that
is not in the table, or a value that does not fit, is an error that names the file and the field (exit code 61); nothing is
guessed. \`/settings\` writes it. Options of a command come first, then the environment, then this file.

\`\`\`json
{
  "model": "qwen3-coder",
  "baseUrl": "http://127.0.0.1:11434/v1",
  "window": 262144,
  "tools": { "read": "allow", "edit": "ask", "bash": "ask" },
  "navigator": { "filter": "no-tools", "leaving": "ask" },
  "keys": { "navigator": { "fold": ["h", "left"] } }
}
\`\`\`

Keys of APIs are never in the file: \`apiKeyEnv\` names the environment variable that holds one. A key belongs to an address:
one that is configured for \`baseUrl\` is not sent to another address that is typed with \`--base-url\`.

| setting | values | what it does |
|---|---|---|
`;

/** `docs/config.md`: every setting, as the schema has it. */
export function configPage(): string {
  return `${INTRO}${rowsOf(configJsonSchema(), []).join("\n")}\n`;
}

/** The example of the page, so that a test can read it as a file. */
export function configExample(): string {
  return /```json\n([\s\S]*?)```/.exec(INTRO)?.[1] ?? "";
}

/** One row for each setting, groups before their members. */
function rowsOf(schema: unknown, above: readonly string[]): readonly string[] {
  return Object.entries(member(schema, "properties") ?? {}).flatMap(([name, about]) => {
    const path = [...above, name];
    const said = member(about, "description");
    return [`| \`${path.join(".")}\` | ${valuesOf(about)} | ${typeof said === "string" ? said : ""} |`, ...rowsOf(about, path)];
  });
}

function valuesOf(about: unknown): string {
  const choices = member(about, "enum");
  if (Array.isArray(choices)) return choices.map((choice) => `\`${String(choice)}\``).join(", ");
  if (member(about, "properties") !== undefined) return "a group";
  if (member(about, "additionalProperties") !== undefined) return "actions with their keys";
  const type = member(about, "type");
  return type === "integer" ? `a whole number from ${String(member(about, "minimum"))}` : type === "boolean" ? "true, false" : "a text";
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return new Map<string, unknown>(Object.entries(value)).get(name);
}
