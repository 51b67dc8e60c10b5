// Runs an example: `npm run example NAME`, and lists them without a name. On a Node that does not run TypeScript, the example is
// compiled first, next to its dependencies.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { transform } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const names = readdirSync(here).filter((name) => existsSync(join(here, name, "main.ts")));
const [name, ...rest] = process.argv.slice(2);

if (name === undefined || !names.includes(name)) {
  process.stdout.write(`Usage: npm run example NAME\nExamples: ${names.join(", ")}\n`);
  process.exit(name === undefined ? 0 : 2);
}

const { code } = await transform(readFileSync(join(here, name, "main.ts"), "utf8"), { loader: "ts", format: "esm", target: "node20.19" });
const folder = join(here, "node_modules/.run");
mkdirSync(folder, { recursive: true });
const file = join(folder, `${name}-${process.pid}.mjs`);
writeFileSync(file, code);
try {
  execFileSync(process.execPath, [file, ...rest], { stdio: "inherit" });
} catch (error) {
  process.exitCode = error.status ?? 1;
} finally {
  rmSync(file, { force: true });
}
