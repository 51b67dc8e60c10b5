// Arrows between folders point one way. The rooms of session-core, from the bottom up; a room may use those above it
// in this list, and itself.
const ROOMS = [
  ["text"],
  ["ids", "errors"],
  ["arguments"],
  ["entry", "tools"],
  ["source"],
  ["port"],
  ["storage"],
  ["search"],
  ["sessions"],
  ["tree"],
  ["import", "verify"],
  ["context"],
  ["formats"],
  ["session"],
  ["store"],
  ["transfer"],
];

const CORE = "packages/session-core/src";

// The same of compaction.
const COMPACTION_ROOMS = [
  ["errors", "text", "arguments"],
  ["settings"],
  ["tokens"],
  ["plan"],
  ["fit", "prune"],
  ["summarizers"],
  ["extract"],
  ["summary"],
  ["checkpoints", "recall"],
  ["run"],
];

const COMPACTION = "packages/compaction/src";

// The same of the command. Errors and exit codes are in no room.
const CLI_ROOMS = [
  ["terminal"],
  ["format"],
  ["tree", "tui"],
  ["session"],
  ["config", "preview", "prompt"],
  ["agent", "picker"],
  ["navigator", "shell"],
  ["interactive"],
  ["commands"],
  ["program"],
];

const CLI = "packages/cli/src";

/** A room may not use one that comes later in the list. */
const upward = (source, levels) =>
  levels.map((rooms, level) => {
    const later = levels.slice(level + 1).map((room) => `(${room.join("|")})/`);
    return {
      name: `${source.split("/")[1]}-${rooms.join("-")}-points-down`,
      comment: "Imports point from shell to core.",
      severity: "error",
      from: { path: `^${source}/(${rooms.join("|")})/` },
      to: { path: `^${source}/(${[...later, "index\\.ts$"].join("|")})` },
    };
  });

/** A library has one place where it is used. */
const only = (name, library, path) => ({
  name,
  severity: "error",
  from: { path: "^packages/[^/]+/src", pathNot: path },
  to: { path: `node_modules/${library}/`, dependencyTypesNot: ["type-only"] },
});

module.exports = {
  forbidden: [
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    ...upward(CORE, ROOMS),
    ...upward(COMPACTION, COMPACTION_ROOMS),
    ...upward(CLI, CLI_ROOMS),
    {
      name: "formats-know-no-storage",
      comment: "A format reads and writes texts; it knows neither SQLite nor the port's engine.",
      severity: "error",
      from: { path: `^${CORE}/formats/` },
      to: { path: `^${CORE}/(storage|search|sessions|tree|import)/` },
    },
    {
      name: "handles-know-the-port-only",
      comment: "Session and Store are written on the port, so that another engine can stand behind it.",
      severity: "error",
      from: { path: `^${CORE}/(session/|context/|store/(store|search-indexer)\\.ts$)` },
      to: { path: `^${CORE}/(storage|search|sessions|tree|import)/` },
    },
    {
      name: "cli-above-compaction-above-core",
      severity: "error",
      from: { path: "^packages/(session-core|compaction)/" },
      to: { path: "^packages/cli/" },
    },
    { name: "core-is-the-bottom", severity: "error", from: { path: "^packages/session-core/" }, to: { path: "^packages/compaction/" } },
    {
      name: "tests-at-the-top-use-exports",
      comment: "What crosses packages is tested through what they export.",
      severity: "error",
      from: { path: "^test/" },
      to: { path: "^packages/[^/]+/src/" },
    },
    only("ink-in-one-room", "(ink|react)", "^packages/cli/src/tui/"),
    only("better-sqlite3-in-storage", "better-sqlite3", `^${CORE}/storage/`),
    only("kysely-in-rooms-with-queries", "kysely", `^${CORE}/(storage|search|sessions|tree|verify)/`),
    only("nanoid-in-ids", "nanoid", `^${CORE}/ids/`),
    only(
      "zod-at-the-gates",
      "zod",
      `^(${CORE}/entry/|${COMPACTION}/(settings|summarizers|recall|checkpoints)/|packages/cli/src/(config|preview)/)`,
    ),
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
