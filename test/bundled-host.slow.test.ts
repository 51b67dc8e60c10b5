import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writePiFile } from "./bench/session-files.mjs";

// A host that is one file: `import.meta.url` of a module is the bundle of ESM, and undefined in one of CommonJS.

const modules = join(import.meta.dirname, "../packages/session-core/node_modules");
const PACKAGES = ["better-sqlite3", "better-sqlite3-multiple-ciphers"];

let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "bough-bundled-"));
  mkdirSync(join(folder, "node_modules"));
  for (const name of PACKAGES) symlinkSync(realpathSync(join(modules, name)), join(folder, "node_modules", name), "junction");
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a program prints that was bundled with the libraries, without the drivers. */
async function printed(contents: string, format: "cjs" | "esm"): Promise<string> {
  const outfile = join(folder, format === "cjs" ? "host.cjs" : "host.mjs");
  await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    outfile,
    bundle: true,
    platform: "node",
    format,
    external: PACKAGES,
    logLevel: "error",
  });
  return execFileSync(process.execPath, [outfile], { cwd: folder, encoding: "utf8" });
}

test.each(["cjs", "esm"] as const)("a bundle of %s imports in one thread", async (format) => {
  writePiFile(join(folder, "session.jsonl"), 200_000);
  const said = await printed(
    `import { openStore } from "@bough/session-core";
     import { importPath } from "@bough/formats";
     openStore({ path: ":memory:" }).then(async (store) => {
       const { sessions } = await importPath(store, "session.jsonl", { threads: "always" });
       console.log(sessions.map(({ outcome }) => outcome).join());
       await store.close();
     });`,
    format,
  );
  expect(said).toBe("created\n");
});

test.each(["cjs", "esm"] as const)("a bundle of %s finds the package for locked stores beside it", async (format) => {
  const said = await printed(
    `import { openStore } from "@bough/session-core";
     openStore({ path: "${format}.db", key: "a key" }).then((store) => store.close().then(() => console.log("closed")), ({ code }) => console.log(code));`,
    format,
  );
  expect(said).toBe("closed\n");
});
