// Mistakes that make a published package unusable. `.ci/installed.mjs --self-test` must detect each of them.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Moves a dependency to where users do not get it. */
function toDev(...names) {
  return (manifest) => {
    manifest.devDependencies ??= {};
    for (const name of names) {
      manifest.devDependencies[name] = manifest.dependencies[name];
      delete manifest.dependencies[name];
    }
  };
}

const without = (list, name) => list.filter((one) => one !== name);

export const MUTATIONS = [
  { name: "session-core: zod and better-sqlite3 are devDependencies", pack: "@bough/session-core", change: toDev("zod", "better-sqlite3") },
  { name: "session-core: zod is a devDependency", pack: "@bough/session-core", change: toDev("zod") },
  { name: "cli: better-sqlite3 is a devDependency", pack: "@bough/cli", change: toDev("better-sqlite3") },
  {
    name: "compaction: its workspace range is kept",
    pack: "@bough/compaction",
    change: ({ dependencies }) => (dependencies["@bough/session-core"] = "workspace:^"),
  },
  {
    name: "cli: files without dist/chunks",
    pack: "@bough/cli",
    change: (manifest) => (manifest.files = [...without(manifest.files, "dist"), "dist/bough.js"]),
  },
  {
    name: "compaction: the tables are missing",
    pack: "@bough/compaction",
    change: (_manifest, home) => rmSync(join(home, "dist/chunks"), { recursive: true }),
  },
  {
    name: "session-core: exports name a file that is not there",
    pack: "@bough/session-core",
    change: ({ exports }) => (exports["."].default = "./dist/main.js"),
  },
  {
    name: "cli: the bin has no shebang",
    pack: "@bough/cli",
    change: (_manifest, home) => writeFileSync(join(home, "dist/bough.js"), "console.log('0.1.0')\n"),
  },
  { name: "cli: better-sqlite3 12 alone", pack: "@bough/cli", change: ({ dependencies }) => (dependencies["better-sqlite3"] = "^12.11.1") },
];
