const { readdirSync } = require("node:fs");
const { join } = require("node:path");

// Imports between folders point in one direction. The folders of session-core, lowest first: a folder may import from itself, and
// from folders that are listed before it. `port` is what handles and engines know of each other, `rules` is what engines share.
const CORE_FOLDERS = [
  ["text", "collections"],
  ["ids", "errors", "async"],
  ["arguments"],
  ["entry", "tools"],
  ["view", "port"],
  ["rules"],
  ["sqlite", "context"],
  ["session"],
  ["store"],
];

// The folders of SQLite's engine, lowest first; the files beside them are the engine.
const SQLITE_FOLDERS = [["file", "migrations"], ["payloads"], ["search"], ["sessions"], ["tree"], ["import", "verify"]];

// The folders of formats, lowest first: one for each program, and what all of them use.
const SHARED_BY_FORMATS = ["source", "secrets", "transfer"];
// Readers that use the blocks of another one.
const BUILT_ON_OTHERS = ["qwen"];
const FORMATS_FOLDERS = [
  ["source"],
  ["secrets"],
  readdirSync(join(__dirname, "../packages/formats/src"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && ![...SHARED_BY_FORMATS, ...BUILT_ON_OTHERS].includes(entry.name))
    .map((entry) => entry.name),
  BUILT_ON_OTHERS,
  ["transfer"],
];

const CORE = "packages/session-core/src";
const POSTGRES = "packages/postgres/src";
const FORMATS = "packages/formats/src";

// The folders of compaction, lowest first.
const COMPACTION_FOLDERS = [
  ["errors", "arguments"],
  ["settings"],
  ["tokens"],
  ["plan"],
  ["fit", "prune"],
  ["summarizers"],
  ["extract"],
  ["summary"],
  ["checkpoints", "recall"],
  ["blame"],
  ["run"],
  ["ai-sdk"],
];

const COMPACTION = "packages/compaction/src";

// The folders of the command, lowest first. Errors and exit codes are outside these folders.
const CLI_FOLDERS = [
  ["terminal"],
  ["format"],
  ["tree", "tui"],
  ["config"],
  ["session"],
  ["mcp", "preview", "prompt", "remote", "watch"],
  ["agent", "finder", "memory", "page", "picker"],
  ["navigator", "shell"],
  ["interactive"],
  ["commands"],
  ["completion"],
  ["program"],
];

const CLI = "packages/cli/src";

const ADAPTERS = "packages/adapters/src";

// What each folder of the adapters takes from its framework.
const FRAMEWORKS = {
  langgraph: "@langchain/",
  "openai-agents": "@openai/",
  "claude-agent-sdk": "@anthropic-ai/",
  pi: "@earendil-works/",
};

/** A folder must not import from one that is listed later. */
const upward = (source, levels) =>
  levels.map((folders, level) => {
    const later = levels.slice(level + 1).map((names) => `(${names.join("|")})/`);
    return {
      name: `${source
        .split("/")
        .filter((part) => !/^(packages|src)$/.test(part))
        .join("-")}-${folders.join("-")}-points-down`,
      comment: "A folder imports only from folders listed before it.",
      severity: "error",
      from: { path: `^${source}/(${folders.join("|")})/` },
      to: { path: `^${source}/(${[...later, "index\\.ts$", "ai-sdk\\.ts$", "settings\\.ts$"].join("|")})` },
    };
  });

/** Only files at `path` import the library. */
const only = (name, library, path) => ({
  name,
  severity: "error",
  from: { path: "^packages/[^/]+/src", pathNot: path },
  to: { path: `node_modules/${library}/`, dependencyTypesNot: ["type-only"] },
});

module.exports = {
  forbidden: [
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    ...upward(CORE, CORE_FOLDERS),
    ...upward(`${CORE}/sqlite`, SQLITE_FOLDERS),
    ...upward(FORMATS, FORMATS_FOLDERS),
    ...upward(COMPACTION, COMPACTION_FOLDERS),
    ...upward(CLI, CLI_FOLDERS),
    {
      name: "handles-use-only-the-port",
      comment:
        "Session and Store use the storage port only, so that the engine can be replaced. openStore, restoreStore and changeStoreKey choose the engine.",
      severity: "error",
      from: { path: `^${CORE}/(session|context|view|store)/`, pathNot: `^${CORE}/store/(open-store|restore-store|change-store-key)\\.ts$` },
      to: { path: `^${CORE}/sqlite/` },
    },
    {
      name: "rules-know-no-engine",
      comment: "Both engines ask the rules. A rule knows neither SQL nor a driver.",
      severity: "error",
      from: { path: `^${CORE}/(rules|port)/` },
      to: { path: `^${CORE}/(sqlite|session|store)/` },
    },
    {
      name: "siblings-use-exports",
      comment: "A package imports another one only through the subpaths that its manifest exports, and only those below it.",
      severity: "error",
      from: { path: "^packages/([^/]+)/src/" },
      to: { path: "^packages/([^/]+)/src/", pathNot: "^packages/$1/src/" },
    },
    {
      name: "core-is-the-bottom",
      severity: "error",
      from: { path: `^${CORE}/` },
      to: { path: "^packages/(?!session-core/)", pathNot: "^packages/postgres/" },
    },
    {
      name: "postgres-and-formats-use-core-only",
      severity: "error",
      from: { path: `^(${POSTGRES}|${FORMATS})/` },
      to: { path: "^packages/(compaction|adapters|cli)/" },
    },
    {
      name: "postgres-and-formats-are-apart",
      severity: "error",
      from: { path: `^(${POSTGRES}|${FORMATS})/` },
      to: { path: "^packages/(postgres|formats)/", pathNot: ["^packages/postgres/src/", "^packages/formats/src/"] },
    },
    {
      name: "cli-above-compaction-above-core",
      severity: "error",
      from: { path: "^packages/(session-core|postgres|formats|compaction)/" },
      to: { path: "^packages/cli/" },
    },
    {
      name: "adapters-above-core",
      comment: "Nothing in the other packages imports the adapters; adapters import neither the command nor compaction.",
      severity: "error",
      from: { path: "^packages/(session-core|compaction|cli)/src/" },
      to: { path: "^packages/adapters/" },
    },
    {
      name: "adapters-import-core-only",
      severity: "error",
      from: { path: `^${ADAPTERS}/` },
      to: { path: "^packages/(compaction|cli)/" },
    },
    ...Object.entries(FRAMEWORKS).flatMap(([folder, framework]) => [
      {
        name: `${folder}-imports-no-other-adapter`,
        severity: "error",
        from: { path: `^${ADAPTERS}/${folder}/` },
        to: { path: `^${ADAPTERS}/(?!${folder}/)[^/]+/` },
      },
      {
        name: `${framework.slice(1, -1)}-only-in-its-adapter`,
        severity: "error",
        from: { path: "^packages/[^/]+/src/", pathNot: `^${ADAPTERS}/${folder}/` },
        to: { path: `node_modules/${framework}` },
      },
    ]),
    {
      name: "tests-at-the-top-use-exports",
      comment: "Tests import other packages only through their exports.",
      severity: "error",
      from: { path: "^test/" },
      to: { path: "^packages/[^/]+/src/" },
    },
    only("modelcontextprotocol-in-mcp", "@modelcontextprotocol", "^packages/cli/src/mcp/"),
    only("better-sqlite3-in-one-file", "better-sqlite3", `^${CORE}/sqlite/file/driver\\.ts$`),
    only("pg-in-one-file", "pg", `^${POSTGRES}/driver\\.ts$`),
    only("kysely-in-engines", "kysely", `^(${CORE}/(sqlite/|rules/declare-query)|${POSTGRES}/)`),
    only("nanoid-in-ids", "nanoid", `^${CORE}/ids/`),
    only("orama-stemmers-with-languages", "@orama/stemmers", `^${CORE}/rules/search/(stems|other-languages)\\.ts$`),
    only(
      "zod-where-input-is-validated",
      "zod",
      `^(${CORE}/(entry/|rules/copied-schema\\.ts)|${COMPACTION}/(settings|summarizers|recall|checkpoints)/|packages/cli/src/((config|mcp|preview|remote)/|commands/share\\.ts))`,
    ),
    {
      name: "ai-sdk-in-subpaths",
      comment:
        "The AI SDK is an optional peer: also its types are named only by the subpaths ai-sdk, and by the command, which bundles it.",
      severity: "error",
      from: { path: "^packages/[^/]+/src", pathNot: `^(${ADAPTERS}|${COMPACTION})/ai-sdk(/|\\.ts$)|^packages/cli/src/agent/` },
      to: { path: "node_modules/(ai|@ai-sdk/[^/]+)/" },
    },
    only("js-tiktoken-in-one-adapter", "js-tiktoken", `^${COMPACTION}/tokens/tiktoken/`),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)dist/" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["types", "import", "default"],
      extensions: [".ts", ".tsx", ".mjs", ".js"],
    },
  },
};
