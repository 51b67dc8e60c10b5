// Writes docs/commands.md and docs/exit-codes.md from the definitions of the commands. A test compares them.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const folder = mkdtempSync(join(tmpdir(), "bough-docs-"));
try {
  await build({
    absWorkingDir: root,
    entryPoints: ["packages/cli/src/program/pages.ts"],
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    splitting: true,
    bundle: true,
    platform: "node",
    format: "esm",
    // The commands themselves are not run, so what they need need not be there.
    external: ["better-sqlite3", "@bough/session-core", "@bough/compaction", "ai"],
    banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" },
    logLevel: "error",
  });
  const { commandsPage, exitCodesPage } = await import(pathToFileURL(join(folder, "pages.mjs")).href);
  writeFileSync(join(root, "docs/commands.md"), commandsPage());
  writeFileSync(join(root, "docs/exit-codes.md"), exitCodesPage());
} finally {
  rmSync(folder, { recursive: true, force: true });
}
