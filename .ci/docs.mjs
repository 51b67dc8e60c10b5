// Writes docs/commands.md, docs/exit-codes.md, docs/config.md and docs/navigator.md from the definitions in the code. Tests compare them.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
// Inside the package, so that the definitions find the libraries that they import.
const folder = mkdtempSync(join(root, "packages/cli/node_modules/.bough-docs-"));
try {
  await build({
    absWorkingDir: root,
    entryPoints: {
      pages: "packages/cli/src/program/pages.ts",
      navigator: "packages/cli/src/program/navigator-page.ts",
    },
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    splitting: true,
    bundle: true,
    platform: "node",
    format: "esm",
    // The commands themselves are not run, so what they need need not be there.
    external: ["better-sqlite3", "@bough/session-core", "@bough/compaction", "ai", "ink", "react"],
    banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" },
    logLevel: "error",
  });
  const { renderCommandsPage, renderConfigPage, renderExitCodesPage } = await import(pathToFileURL(join(folder, "pages.mjs")).href);
  const { renderNavigatorPage } = await import(pathToFileURL(join(folder, "navigator.mjs")).href);
  writeFileSync(join(root, "docs/config.md"), renderConfigPage());
  writeFileSync(join(root, "docs/navigator.md"), renderNavigatorPage());
  writeFileSync(join(root, "docs/commands.md"), renderCommandsPage());
  writeFileSync(join(root, "docs/exit-codes.md"), renderExitCodesPage());
} finally {
  rmSync(folder, { recursive: true, force: true });
}
