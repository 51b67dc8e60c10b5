// Builds every package: declarations by tsc, code by esbuild. Kysely, nanoid and the command's libraries are bundled,
// because loading their hundreds of modules one by one costs 200 ms at every start, and bundled 65.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { BUNDLED_INK } from "./bundle-ink.mjs";

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

/** The licences of what was bundled, beside the bundle. */
function writeLicences(folder, metafile) {
  const packages = new Map();
  for (const input of Object.keys(metafile.inputs)) {
    const [, home] = /^(.*node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(input) ?? [];
    if (home === undefined || packages.has(home)) continue;
    const about = JSON.parse(readFileSync(join(root, home, "package.json"), "utf8"));
    const file = ["LICENSE", "LICENSE.md", "license", "LICENSE.txt", "LICENCE"].map((one) => join(root, home, one)).find(existsSync);
    packages.set(home, `${about.name} ${about.version} (${about.license})\n\n${file ? readFileSync(file, "utf8").trim() : ""}\n`);
  }
  if (packages.size > 0)
    writeFileSync(join(folder, "THIRD_PARTY_LICENSES.txt"), [...packages.values()].sort().join(`\n${"-".repeat(80)}\n\n`));
}

async function library(name, external) {
  const folder = join(root, "packages", name);
  await replaced(folder, async (outdir) => {
    declarations(folder, outdir);
    const { metafile } = await build({
      ...node,
      absWorkingDir: root,
      entryPoints: [join(folder, "src/index.ts")],
      outdir,
      splitting: true,
      chunkNames: "chunks/[name]-[hash]",
      sourcemap: true,
      external,
    });
    writeLicences(folder, metafile);
  });
}

async function command() {
  const folder = join(root, "packages/cli");
  await replaced(folder, async (outdir) => {
    // A command has no types to offer; they are only checked.
    execFileSync(process.execPath, [TSC, "-p", folder, "--noEmit"], { stdio: "inherit" });
    const { metafile } = await build({
      ...node,
      absWorkingDir: root,
      entryPoints: { bough: join(folder, "src/main.ts") },
      outdir,
      splitting: true,
      chunkNames: "chunks/[name]-[hash]",
      minify: true,
      keepNames: true,
      external: ["better-sqlite3"],
      ...BUNDLED_INK,
      // Some of the bundled libraries are CommonJS and ask for built-in modules by `require`.
      banner: {
        js: "#!/usr/bin/env node\nimport { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
      },
    });
    writeLicences(folder, metafile);
    chmodSync(join(outdir, "bough.js"), 0o755);
  });
}

await library("session-core", ["better-sqlite3", "zod"]);
await library("compaction", ["@bough/session-core", "js-tiktoken", "zod", "ai"]);
await command();
