// The public surface of the libraries, one file for each subpath, `docs/api/NAME.api.md`, so that a review shows every change of it.
// Fails where a type is named in a public signature and is not exported. Needs the build.
//
//   node .ci/api.mjs           fails if a report differs from the declarations
//   node .ci/api.mjs --write   writes the reports
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Extractor, ExtractorConfig, ExtractorLogLevel } from "@microsoft/api-extractor";
import { LIBRARIES } from "./packages.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const write = process.argv.includes("--write");

/** What api-extractor calls its messages, and what each of them is here. */
const ERROR = { logLevel: ExtractorLogLevel.Error, addToApiReportFile: false };
const IGNORED = { logLevel: ExtractorLogLevel.None };
const MESSAGES = {
  compilerMessageReporting: { default: ERROR },
  extractorMessageReporting: { default: IGNORED, "ae-forgotten-export": ERROR },
  // typedoc checks the docstrings.
  tsdocMessageReporting: { default: IGNORED },
};

/** The subpaths of a package, with the name of their report and their declarations. */
function surfacesOf(name) {
  const folder = join(root, "packages", name);
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return Object.entries(exports)
    .filter(([, target]) => target.types !== undefined)
    .map(([subpath, target]) => ({
      folder,
      name: `${name}${subpath.slice(1).replace("/", "-")}`,
      declarations: join(folder, target.types),
    }));
}

function configOf({ folder, name, declarations }, scratch) {
  return ExtractorConfig.prepare({
    configObject: {
      projectFolder: folder,
      mainEntryPointFilePath: declarations,
      compiler: { overrideTsconfig: compilerOptions(folder) },
      apiReport: { enabled: true, reportFileName: name, reportFolder: join(root, "docs/api"), reportTempFolder: scratch },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      newlineKind: "lf",
      messages: MESSAGES,
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: join(folder, "package.json"),
  });
}

/** Whether a type that a subpath names is an export of another subpath of the package. */
function isInOtherEntry({ folder, declarations }, text) {
  const [, name = ""] = /"(\w+)"/.exec(text) ?? [];
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const others = Object.values(exports).flatMap(({ types }) => (types === undefined ? [] : [join(folder, types)]));
  return others.some((file) => file !== declarations && new RegExp(`\\b${name}\\b`).test(readFileSync(file, "utf8")));
}

function compilerOptions(folder) {
  const options = {
    target: "es2023",
    lib: ["es2023", "es2024.string"],
    module: "nodenext",
    moduleResolution: "nodenext",
    types: ["node"],
    strict: true,
    skipLibCheck: true,
  };
  return { compilerOptions: options, include: [join(folder, "dist")] };
}

mkdirSync(join(root, "docs/api"), { recursive: true });
let failed = 0;
const surfaces = LIBRARIES.flatMap(surfacesOf);
const reports = new Set(surfaces.map(({ name }) => `${name}.api.md`));
for (const file of readdirSync(join(root, "docs/api")).filter((one) => !reports.has(one))) {
  if (write) rmSync(join(root, "docs/api", file));
  else process.stderr.write(`docs/api/${file} is of no subpath. Run: node .ci/api.mjs --write\n`);
  if (!write) failed += 1;
}
for (const surface of surfaces) {
  const { name } = surface;
  const scratch = mkdtempSync(join(tmpdir(), "bough-api-"));
  try {
    const result = Extractor.invoke(configOf(surface, scratch), {
      localBuild: write,
      messageCallback: (message) => {
        // The types of entries are inferred from zod schemas, which stay inside.
        if (message.messageId === "ae-forgotten-export" && /"\w+Schema"/.test(message.text)) message.logLevel = "none";
        if (message.messageId === "ae-forgotten-export" && isInOtherEntry(surface, message.text)) message.logLevel = "none";
        if (message.logLevel === "error") process.stderr.write(`${name}: ${message.formatMessageWithLocation(root)}\n`);
        message.handled = true;
      },
    });
    if (result.apiReportChanged && !write)
      process.stderr.write(`${name}: docs/api/${name}.api.md differs from the declarations. Run: node .ci/api.mjs --write\n`);
    if (result.errorCount > 0 || (result.apiReportChanged && !write)) failed += 1;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
process.exitCode = failed === 0 ? 0 : 1;
