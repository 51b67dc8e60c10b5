// Checks the types of every example as the strictest user would: `skipLibCheck: false`, so that our declarations are checked too. The
// declarations of the frameworks are not ours: their errors are counted, and do not fail. Needs the build.
//
// The blocks of TypeScript in docs/embedding are checked in the same way, each as a file of its own. Then checks a project without any
// framework, because all of them are optional: what needs none must have no error. Declarations of what is bundled, and of packages that have
// none of their own (better-sqlite3, pg), are not there either.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { LIBRARIES } from "./packages.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const packages = join(root, "packages");

const manifests = LIBRARIES.map((name) => JSON.parse(readFileSync(join(packages, name, "package.json"), "utf8")));
const installed = new Set(manifests.flatMap(({ dependencies }) => Object.keys(dependencies ?? {})));

/** Packages without declarations where only the libraries are installed: optional peers, and what only builds them. */
const absent = manifests
  .flatMap(({ peerDependencies, devDependencies }) => Object.keys({ ...peerDependencies, ...devDependencies }))
  .filter((name) => !name.startsWith("@bough/") && !installed.has(name))
  .map((name) => name.replace(/^@types\//, ""));

const { config } = ts.readConfigFile(join(root, "examples/tsconfig.json"), ts.sys.readFile);
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, join(root, "examples"));

/** The errors in our files, and the number of those in files of others. `absent`: packages that are not found. */
function check(files, absent) {
  const strict = { ...options, skipLibCheck: false, noEmit: true };
  const host = ts.createCompilerHost(strict);
  const cache = ts.createModuleResolutionCache(root, (name) => name, strict);
  host.resolveModuleNameLiterals = (literals, from, redirected, of, file) =>
    literals.map((literal) => {
      if (absent.some((name) => literal.text === name || literal.text.startsWith(`${name}/`))) return { resolvedModule: undefined };
      return ts.resolveModuleName(literal.text, from, of, host, cache, redirected, ts.getModeForUsageLocation(file, literal, of));
    });
  const found = ts.getPreEmitDiagnostics(ts.createProgram(files, strict, host));
  const isOurs = ({ file }) => file === undefined || !relative(root, file.fileName).split(sep).includes("node_modules");
  return { ours: found.filter(isOurs), others: found.length - found.filter(isOurs).length };
}

function report(what, files, absent) {
  const { ours, others } = check(files, absent);
  const format = { getCanonicalFileName: (name) => name, getCurrentDirectory: () => root, getNewLine: () => "\n" };
  process.stderr.write(ts.formatDiagnostics(ours, format));
  process.stdout.write(`${what}: ${ours.length} errors, ${others} in declarations of others\n`);
  if (ours.length > 0) process.exitCode = 1;
}

/** Writes each block of TypeScript of the pages below docs/embedding into a file, next to the dependencies of the examples. */
function writeBlocks(folder) {
  mkdirSync(folder, { recursive: true });
  const pages = join(root, "docs/embedding");
  return readdirSync(pages).flatMap((page) =>
    [...readFileSync(join(pages, page), "utf8").matchAll(/```ts\n([\s\S]*?)```/g)].map(([, block], at) => {
      const file = join(folder, `${page}-${at + 1}.ts`);
      writeFileSync(file, block);
      return file;
    }),
  );
}

const examples = readdirSync(join(root, "examples"))
  .map((name) => join(root, "examples", name, "main.ts"))
  .filter(existsSync);
const scratch = join(root, "examples/.docs");
try {
  const blocks = writeBlocks(scratch);
  report(`${examples.length} examples, ${blocks.length} blocks of docs/embedding`, [...examples, ...blocks], []);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

const mains = LIBRARIES.map((name) => join(packages, name, "dist/index.d.ts")).filter(existsSync);
report("without a framework", [join(root, "examples/store/main.ts"), ...mains], absent);
