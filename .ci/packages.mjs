// The packages of the workspace, each after those it depends on. The last one is the command; the others are libraries.
export const LIBRARIES = ["session-core", "formats", "postgres", "compaction", "adapters"];
export const PACKAGES = [...LIBRARIES, "cli"];
