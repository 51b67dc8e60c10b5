// Builds every package: declarations by tsc, code by esbuild. Kysely, nanoid and the command's libraries are bundled,
// because loading their hundreds of modules one by one costs 200 ms at every start, and bundled 65; two tables of
// js-tiktoken, because the package holds 22 MB of others.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { CRYPTO_ON_DEMAND } from "./bundle-crypto.mjs";
import { bundlePage } from "./bundle-page.mjs";
import { loadDefinitions } from "./definitions.mjs";
import { licencesOf, writeLicences } from "./licences.mjs";
import { LIBRARIES } from "./packages.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
// An entry chunk imports the chunks it shares, also where it uses none of their names; bundling the library again is
// right to leave those out.
const node = {
  platform: "node",
  format: "esm",
  target: "node20.19",
  logLevel: "warning",
  metafile: true,
  bundle: true,
  logOverride: { "ignored-bare-import": "silent" },
};

const TSC = join(root, "node_modules/typescript/bin/tsc");

/** Runs `fill` on a new folder and then puts it in the place of `dist`, so that whoever runs the old one meanwhile is not disturbed for long. */
async function replaced(folder, fill) {
  const next = join(folder, "dist.next");
  rmSync(next, { recursive: true, force: true });
  await fill(next);
  rmSync(join(folder, "dist"), { recursive: true, force: true });
  renameSync(next, join(folder, "dist"));
}

function declarations(folder, outDir) {
  const record = join(outDir, ".tsbuildinfo");
  execFileSync(process.execPath, [TSC, "-p", folder, "--outDir", outDir, "--tsBuildInfoFile", record], { stdio: "inherit" });
  // It speaks of this folder only, and has no place in a package.
  rmSync(record);
}

function filesBelow(folder, ending) {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
}

/** What each library has bundled; the command bundles that again. */
const bundledIn = new Map();

/** The source map of a table is as large as the table, and useless. */
function withoutMapsOfTables(outdir) {
  for (const map of filesBelow(outdir, ".js.map").filter((file) => /_base-\w+\.js\.map$/.test(file))) {
    const code = map.slice(0, -".map".length);
    rmSync(map);
    writeFileSync(code, readFileSync(code, "utf8").replace(/\n\/\/# sourceMappingURL=.*\s*$/, "\n"));
  }
}

/** The source files of each subpath that the manifest exports: `./dist/ai-sdk/index.js` is built from `src/ai-sdk/index.ts`. */
function entriesOf({ exports }) {
  return Object.values(exports)
    .flatMap((target) => [target.default, target.import])
    .filter((file) => file !== undefined)
    .map((file) => file.replace(/^\.\/dist\/(.*)\.js$/, "src/$1.ts"));
}

/** Files that other threads start with: no export names them. They lie at the same place in the library and in the command. */
const THREADS = { formats: ["transfer/reading-worker"] };

/** Builds a package. What its manifest names as a dependency or peer is not bundled. */
async function library(name) {
  const folder = join(root, "packages", name);
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  await replaced(folder, async (outdir) => {
    declarations(folder, outdir);
    const { metafile } = await build({
      ...node,
      absWorkingDir: root,
      entryPoints: [...entriesOf(manifest), ...(THREADS[name] ?? []).map((file) => `src/${file}.ts`)].map((entry) => join(folder, entry)),
      outbase: join(folder, "src"),
      outdir,
      splitting: true,
      chunkNames: "chunks/[name]-[hash]",
      sourcemap: true,
      external: Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }),
      plugins: [CRYPTO_ON_DEMAND],
    });
    withoutMapsOfTables(outdir);
    bundledIn.set(name, licencesOf(root, Object.keys(metafile.inputs)));
    writeLicences(folder, bundledIn.get(name));
  });
}

/** The manual pages, which package.json names. */
async function writeManPages(folder) {
  const { renderManPages } = await loadDefinitions("man-pages");
  mkdirSync(folder, { recursive: true });
  for (const { file, roff } of renderManPages()) writeFileSync(join(folder, file), roff);
}

function threadsOfLibraries() {
  const files = Object.entries(THREADS).flatMap(([name, threads]) =>
    threads.map((file) => [file, join(root, "packages", name, `dist/${file}.js`)]),
  );
  return Object.fromEntries(files);
}

async function command() {
  const folder = join(root, "packages/cli");
  await replaced(folder, async (outdir) => {
    // A command has no types to offer; they are only checked.
    execFileSync(process.execPath, [TSC, "-p", folder, "--noEmit"], { stdio: "inherit" });
    execFileSync(process.execPath, [TSC, "-p", join(folder, "src/page/client")], { stdio: "inherit" });
    const { metafile } = await build({
      ...node,
      absWorkingDir: root,
      entryPoints: { bough: join(folder, "src/start.ts"), ...threadsOfLibraries() },
      outdir,
      splitting: true,
      chunkNames: "chunks/[name]-[hash]",
      // Names stay: to keep them in another way, each function and class would have to be named again at every start.
      minifySyntax: true,
      minifyWhitespace: true,
      plugins: [CRYPTO_ON_DEMAND],
      external: ["better-sqlite3"],
      // Its other form loads its parts by a `require` that esbuild cannot follow.
      alias: { "jsonc-parser": join(folder, "node_modules/jsonc-parser/lib/esm/main.js") },
      // Some of the bundled libraries are CommonJS and ask for built-in modules by `require`.
      banner: {
        js: "#!/usr/bin/env node\nimport { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
      },
    });
    await writeManPages(join(outdir, "man"));
    const page = await bundlePage(root, join(folder, "src/page/client"));
    writeFileSync(join(outdir, "page.json"), JSON.stringify(page.assets));
    const inLibraries = [...bundledIn.values()].flatMap((packages) => [...packages]);
    writeLicences(folder, new Map([...inLibraries, ...licencesOf(root, [...Object.keys(metafile.inputs), ...page.inputs])]));
    chmodSync(join(outdir, "bough.js"), 0o755);
  });
}

for (const name of LIBRARIES) await library(name);
await command();
