// Prints docs/schema.md from a store that has just been migrated, so that the page cannot drift from the tables.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { openStore } = await import(join(root, "packages/session-core/dist/index.js"));
const Database = createRequire(join(root, "packages/session-core/package.json"))("better-sqlite3");

/** The page, from the tables as SQLite keeps them. */
export async function schemaPage() {
  const folder = mkdtempSync(join(tmpdir(), "bough-schema-"));
  try {
    const path = join(folder, "store.db");
    await (await openStore({ path })).close();
    const file = new Database(path, { readonly: true });
    const version = file.pragma("user_version", { simple: true });
    const rows = file
      .prepare(
        "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT GLOB '*_text_*' AND name NOT GLOB 'sqlite_*' ORDER BY rowid",
      )
      .all();
    file.close();
    const tables = rows.map(({ sql }) => `${sql.replace(/^ +/gm, "  ").replace(/^ +\)/m, ")")};`).join("\n\n");
    return `# The tables of a store\n\nFormat version ${version}, printed from a new store by \`node .ci/schema.mjs\`. The shadow tables of FTS5 are left out.\n\n\`\`\`sql\n${tables}\n\`\`\`\n`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(join(root, "docs/schema.md"), await schemaPage());
