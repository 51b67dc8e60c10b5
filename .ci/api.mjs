// The public surface of the two libraries as one file each, `docs/api/NAME.api.md`, so that a review shows every change of it.
// Fails where a type is named in a public signature and is not exported. Needs the build.
//
//   node .ci/api.mjs           fails if a report differs from the declarations
//   node .ci/api.mjs --write   writes the reports
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Extractor, ExtractorConfig, ExtractorLogLevel } from "@microsoft/api-extractor";

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

function configOf(name, scratch) {
  const folder = join(root, "packages", name);
  return ExtractorConfig.prepare({
    configObject: {
      projectFolder: folder,
      mainEntryPointFilePath: join(folder, "dist/index.d.ts"),
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
for (const name of ["session-core", "compaction"]) {
  const scratch = mkdtempSync(join(tmpdir(), "bough-api-"));
  try {
    const result = Extractor.invoke(configOf(name, scratch), {
      localBuild: write,
      messageCallback: (message) => {
        // The types of entries are inferred from zod schemas, which stay inside.
        if (message.messageId === "ae-forgotten-export" && /"\w+Schema"/.test(message.text)) message.logLevel = "none";
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
