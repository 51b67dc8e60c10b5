// Loads the modules that write pages from the definitions of the command: its commands with their help, the keys, the settings.
import { mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** The exports of the modules in packages/cli/pages with these names, in one object. */
export async function loadDefinitions(...names) {
  // Inside the package, so that the definitions find the libraries that they import.
  const folder = mkdtempSync(join(root, "packages/cli/node_modules/.bough-docs-"));
  try {
    await build({
      absWorkingDir: root,
      entryPoints: names.map((name) => `packages/cli/pages/${name}.ts`),
      outdir: folder,
      outExtension: { ".js": ".mjs" },
      splitting: true,
      bundle: true,
      platform: "node",
      format: "esm",
      // The commands themselves are not run, so what they need need not be there.
      external: ["better-sqlite3", "@bough/*", "ai"],
      banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" },
      logLevel: "error",
    });
    const modules = await Promise.all(names.map((name) => import(pathToFileURL(join(folder, `${name}.mjs`)).href)));
    return Object.assign({}, ...modules);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
