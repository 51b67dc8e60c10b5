// Builds every package: declarations by tsc, code by Rolldown. Kysely, nanoid and the command's libraries are bundled,
// because loading their hundreds of modules one by one costs 200 ms at every start, and bundled 65; two tables of
// js-tiktoken, because the package holds 22 MB of others. The command is bundled from the sources of the libraries: Rolldown
// follows each name through their index files, so that a chunk has what its commands use and not all of a library.
//
//   node .ci/build.mjs [PACKAGE ...]   builds these, default all: session-core formats postgres compaction adapters cli
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { CRYPTO_ON_DEMAND } from "./bundle-crypto.mjs";
import { bundlePage } from "./bundle-page.mjs";
import { loadDefinitions } from "./definitions.mjs";
import { licencesOf, writeLicences } from "./licences.mjs";
import { LIBRARIES } from "./packages.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/**
 * Bundles `input` into `outdir`. Functions and classes keep their names, so that a stack trace can be read. `together`: see `groupsOf`.
 *
 * @returns the modules of the bundle, as paths from the root
 */
async function bundle({ input, outdir, external, alias = {}, plugins = [], together, output }) {
  const build = await rolldown({
    input,
    cwd: root,
    platform: "node",
    external,
    // Groups need it; their modules are none of the entries, so that these export what they did.
    preserveEntrySignatures: "allow-extension",
    resolve: { alias },
    plugins: [CRYPTO_ON_DEMAND, ...plugins],
    transform: { target: "node20.19" },
    logLevel: "warn",
  });
  const format = {
    dir: outdir,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    keepNames: true,
    ...output,
  };
  const groups = groupsOf((await build.generate(format)).output, together);
  const codeSplitting = groups.length === 0 ? true : { includeDependenciesRecursively: false, groups };
  const { output: chunks } = await build.write({ ...format, codeSplitting });
  return chunks.flatMap(({ modules = {} }) => Object.keys(modules)).map((file) => relative(root, file));
}

/**
 * The code that a start loads anyway, in one chunk for each member of `together`: Node takes longer to find and open a file than to compile
 * what is in it. A member names modules that are loaded together by the ends of their paths. `apart`: what these modules import stays apart.
 * So do the modules themselves if they are entries or await at their top level: what they import while they wait must not import them.
 */
function groupsOf(chunks, { apart = [], ...together }) {
  const byFile = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const closure = (chunk, reached = new Set()) => {
    if (chunk?.type !== "chunk" || reached.has(chunk)) return reached;
    reached.add(chunk);
    for (const file of chunk.imports) closure(byFile.get(file), reached);
    return reached;
  };
  const loadedBy = (ends) => {
    const starts = chunks.filter(({ facadeModuleId }) => ends.some((end) => facadeModuleId?.replaceAll("\\", "/").endsWith(`/${end}`)));
    if (starts.length !== ends.length) throw new Error(`${ends.join(", ")}: ${starts.length} of them are loaded by name.`);
    return starts.flatMap((start) => [...closure(start)]).flatMap(({ modules }) => Object.keys(modules));
  };
  const taken = new Set([...loadedBy(apart), ...chunks.flatMap(({ isEntry, facadeModuleId }) => (isEntry ? facadeModuleId : []))]);
  return Object.entries(together).map(([name, ends]) => {
    const ids = new Set(loadedBy(ends).filter((id) => !taken.has(id) && !AWAITS.test(id)));
    for (const id of ids) taken.add(id);
    return { name, test: (id) => ids.has(id) };
  });
}

const AWAITS = /[\\/]cli[\\/]src[\\/]main\.ts$/;

const TSC = join(root, "node_modules/typescript/bin/tsc");

/** Runs `fill` on a new folder and then puts it in the place of `dist`, so that whoever runs the old one meanwhile is not disturbed for long. */
async function replaced(folder, fill) {
  const next = join(folder, "dist.next");
  rmSync(next, { recursive: true, force: true });
  await fill(next);
  rmSync(join(folder, "dist"), { recursive: true, force: true });
  renameSync(next, join(folder, "dist"));
}

/**
 * Writes the declarations of a package. An import of declarations that are not installed with it is marked, so that a program without
 * `skipLibCheck` compiles; where they are missing, their types are `any`. `hasTypes`: whether those of this package are installed.
 */
function declarations(folder, outDir, hasTypes) {
  const record = join(outDir, ".tsbuildinfo");
  execFileSync(process.execPath, [TSC, "-p", folder, "--outDir", outDir, "--tsBuildInfoFile", record], { stdio: "inherit" });
  // It speaks of this folder only, and has no place in a package.
  rmSync(record);
  for (const file of filesBelow(outDir, ".d.ts")) {
    const text = readFileSync(file, "utf8");
    const marked = text.replace(IMPORT, (line, from) => (hasTypes(from) ? line : `// @ts-ignore\n${line}`));
    if (marked !== text) writeFileSync(file, marked);
  }
}

const IMPORT = /^(?:import|export) .*from "(?!\.|node:)(.*)";$/gm;

function filesBelow(folder, ending) {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
}

/** The source map of a table is as large as the table, and useless. */
function withoutMapsOfTables(outdir) {
  for (const map of filesBelow(outdir, ".js.map").filter((file) => /_base-\w+\.js\.map$/.test(file))) {
    const code = map.slice(0, -".map".length);
    rmSync(map);
    writeFileSync(code, readFileSync(code, "utf8").replace(/\n\/\/# sourceMappingURL=.*\s*$/, "\n"));
  }
}

/** Leaves the sources of bundled libraries out of the maps, a fifth of them: a stack trace names their files and lines without that. */
function withoutSourcesOfOthers(outdir) {
  for (const file of filesBelow(outdir, ".js.map")) {
    const map = JSON.parse(readFileSync(file, "utf8"));
    const sourcesContent = map.sourcesContent.map((content, at) => (map.sources[at].includes("node_modules") ? null : content));
    writeFileSync(file, JSON.stringify({ ...map, sourcesContent }));
  }
}

/** The source file of a built one: `./dist/ai-sdk/index.js` is built from `src/ai-sdk/index.ts`. */
function sourceOf(built) {
  return built.replace(/^\.\/dist\/(.*)\.js$/, "src/$1.ts");
}

/** The source files of each subpath that the manifest exports. */
function entriesOf({ exports }) {
  return Object.values(exports)
    .flatMap((target) => [target.default, target.import])
    .filter((file) => file !== undefined)
    .map(sourceOf);
}

function manifestOf(name) {
  return JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
}

/** Files that other threads start with: no export names them. They lie at the same place in the library and in the command. */
const THREADS = { formats: ["transfer/reading-worker"] };

/** Builds a package. What its manifest names as a dependency or peer is not bundled. */
async function library(name) {
  const folder = join(root, "packages", name);
  const manifest = manifestOf(name);
  const entries = [...entriesOf(manifest), ...(THREADS[name] ?? []).map((file) => `src/${file}.ts`)];
  const installed = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
  const isInstalled = (id) => installed.some((other) => id === other || id.startsWith(`${other}/`));
  await replaced(folder, async (outdir) => {
    declarations(folder, outdir, (id) => isInstalled(id) && manifest.devDependencies?.[`@types/${id}`] === undefined);
    const modules = await bundle({
      input: Object.fromEntries(entries.map((entry) => [entry.slice("src/".length, -".ts".length), join(folder, entry)])),
      outdir,
      external: isInstalled,
      together: manifest.exports["."] === undefined ? {} : { library: ["src/index.ts"] },
      output: { sourcemap: true },
    });
    withoutMapsOfTables(outdir);
    withoutSourcesOfOthers(outdir);
    writeLicences(folder, licencesOf(root, modules));
  });
}

/** Takes the driver by `require`: an `import` of CommonJS files reads their exports with a lexer first, which takes 8 ms at every start. */
const DRIVER_BY_REQUIRE = {
  name: "driver-by-require",
  resolveId: { filter: { id: /^better-sqlite3$/ }, handler: () => "\0driver-by-require" },
  load: {
    filter: { id: /^\0driver-by-require$/ },
    handler: () => 'import { createRequire } from "node:module";\nexport default createRequire(import.meta.url)("better-sqlite3");',
  },
};

/** Takes a library of this workspace from its sources. */
const FROM_SOURCES = {
  name: "from-sources",
  resolveId: {
    filter: { id: /^@bough\// },
    handler(id) {
      const [, name, subpath] = /^@bough\/([^/]+)(.*)$/.exec(id);
      return { id: join(root, "packages", name, sourceOf(manifestOf(name).exports[`.${subpath}`].default)), moduleSideEffects: false };
    },
  },
};

/** The manual pages, which package.json names. */
async function writeManPages(folder) {
  const { renderManPages } = await loadDefinitions("man-pages");
  mkdirSync(folder, { recursive: true });
  for (const { file, roff } of renderManPages()) writeFileSync(join(folder, file), roff);
}

function threadsOfLibraries() {
  const files = Object.entries(THREADS).flatMap(([name, threads]) =>
    threads.map((file) => [file, join(root, "packages", name, `src/${file}.ts`)]),
  );
  return Object.fromEntries(files);
}

async function command() {
  const folder = join(root, "packages/cli");
  await replaced(folder, async (outdir) => {
    // A command has no types to offer; they are only checked.
    execFileSync(process.execPath, [TSC, "-p", folder, "--noEmit"], { stdio: "inherit" });
    execFileSync(process.execPath, [TSC, "-p", join(folder, "src/page/client")], { stdio: "inherit" });
    const modules = await bundle({
      input: { bough: join(folder, "src/start.ts"), ...threadsOfLibraries() },
      outdir,
      // Its other form loads its parts by a `require` that a bundler cannot follow.
      alias: { "jsonc-parser": join(folder, "node_modules/jsonc-parser/lib/esm/main.js") },
      plugins: [FROM_SOURCES, DRIVER_BY_REQUIRE],
      together: {
        apart: ["cli/src/start.ts"],
        start: ["cli/src/main.ts"],
        store: ["commands/sessions.ts", "commands/tree.ts", "sqlite/sqlite-storage.ts"],
        search: ["sqlite/search/search.ts"],
      },
      output: {
        minify: { compress: true, mangle: false, codegen: true },
        banner: ({ name }) => (name === "bough" ? "#!/usr/bin/env node" : ""),
      },
    });
    await writeManPages(join(outdir, "man"));
    const page = await bundlePage(root, join(folder, "src/page/client"));
    writeFileSync(join(outdir, "page.json"), JSON.stringify(page.assets));
    writeLicences(folder, licencesOf(root, [...modules, ...page.inputs]));
    chmodSync(join(outdir, "bough.js"), 0o755);
  });
}

const named = process.argv.slice(2);
for (const name of LIBRARIES) if (named.length === 0 || named.includes(name)) await library(name);
if (named.length === 0 || named.includes("cli")) await command();
