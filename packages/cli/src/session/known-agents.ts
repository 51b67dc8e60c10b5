import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { counted } from "../format/numbers.js";
import type { Io } from "../terminal/io.js";

/** Sessions of an agent on this machine. */
export interface FoundAgent {
  readonly name: string;
  readonly folder: string;
  /** Session files in the folder; the count ends after 20,000 names. */
  readonly files: number;
  /** Whether `bough import` reads them. */
  readonly isSupported: boolean;
}

interface KnownAgent {
  readonly name: string;
  readonly isSupported: boolean;
  /** Where it keeps sessions. The first folder that has any counts. */
  readonly folders: (io: Pick<Io, "env" | "home">) => readonly string[];
  readonly file: RegExp;
  /** How the beginning of a session file looks; undefined: it is not told by its content. */
  readonly beginning?: RegExp;
}

const KNOWN_AGENTS: readonly KnownAgent[] = [
  {
    name: "Claude Code",
    isSupported: true,
    file: /\.jsonl$/,
    folders: (io) => below(io, "CLAUDE_CONFIG_DIR", ["projects"], ".claude", ".config/claude"),
  },
  { name: "pi", isSupported: true, file: /\.jsonl$/, folders: (io) => below(io, "PI_CODING_AGENT_DIR", ["sessions"], ".pi/agent") },
  { name: "oh-my-pi", isSupported: true, file: /\.jsonl$/, folders: (io) => below(io, "OMP_CODING_AGENT_DIR", ["sessions"], ".omp/agent") },
  {
    name: "Codex",
    isSupported: false,
    file: /\.jsonl$/,
    folders: (io) => below(io, "CODEX_HOME", ["sessions"], ".codex"),
    beginning: /"type":\s*"session_meta"|"originator":\s*"codex/,
  },
  {
    name: "Gemini CLI",
    isSupported: false,
    file: /(?:session|chat|checkpoint)[^/\\]*\.jsonl?$/,
    folders: ({ home }) => [join(home, ".gemini", "tmp")],
    beginning: /"projectHash":/,
  },
  {
    name: "Copilot CLI",
    isSupported: false,
    file: /\.jsonl?$/,
    folders: ({ home }) => [join(home, ".copilot", "session-state")],
    beginning: /"type":\s*"session\.start"|"producer":\s*"copilot/,
  },
  {
    name: "opencode",
    isSupported: false,
    file: /ses_[^/\\]*\.json$/,
    folders: ({ env, home }) => [join(env["XDG_DATA_HOME"] || join(home, ".local", "share"), "opencode", "storage", "session")],
    beginning: /"id":\s*"(?:ses|msg|prt)_/,
  },
  { name: "Cursor", isSupported: false, file: /\.jsonl$/, folders: () => [], beginning: /^\{"role":\s*"(?:user|assistant)",\s*"message":/ },
];

/** The folder that a variable names, else folders of the home. */
function below(
  { env, home }: Pick<Io, "env" | "home">,
  variable: string,
  names: readonly string[],
  ...folders: readonly string[]
): readonly string[] {
  const chosen = env[variable];
  if (chosen !== undefined && isAbsolute(chosen)) return [join(chosen, ...names)];
  return home === "" ? [] : folders.map((folder) => join(home, folder, ...names));
}

/** Counts the sessions of the agents that are known. Reads names of files only, at most 20,000 of each agent. */
export function findAgents(io: Pick<Io, "env" | "home">): readonly FoundAgent[] {
  return KNOWN_AGENTS.flatMap(({ name, isSupported, folders, file }) => {
    const found = folders(io)
      .map((folder) => ({ name, folder, isSupported, files: listFiles(folder).filter((path) => file.test(path)).length }))
      .find(({ files }) => files > 0);
    return found === undefined ? [] : [found];
  });
}

/** The agents in one line each: `Claude Code: 12 files in ~/.claude/projects`. */
export function describeAgent({ name, files, folder, isSupported }: FoundAgent, home: string): string {
  const place = home !== "" && folder.startsWith(`${home}/`) ? `~${folder.slice(home.length)}` : folder;
  return `${name}: ${counted(files, "file")} in ${place}${isSupported ? "" : " (not supported yet)"}`;
}

/**
 * Names the files of a folder that are not among the imported ones, by what they are: `12 files of Codex: not supported yet`. Reads the
 * beginning of each, of at most 20,000.
 */
export function describeOthers(folder: string, imported: ReadonlySet<string>): readonly string[] {
  const counts = new Map<string, number>();
  for (const path of listFiles(folder)) {
    if (imported.has(path) || !/\.jsonl?$/.test(path)) continue;
    const beginning = readBeginning(path);
    const agent = KNOWN_AGENTS.find((known) => known.beginning?.test(beginning) === true);
    if (agent !== undefined) counts.set(agent.name, (counts.get(agent.name) ?? 0) + 1);
  }
  return [...counts].map(([name, files]) => `${counted(files, "file")} of ${name}: not supported yet`);
}

const MOST_NAMES = 20_000;

/** The files below a folder; none if it is missing or unreadable. */
function listFiles(folder: string): readonly string[] {
  const files: string[] = [];
  const folders = [folder];
  for (let at = 0; at < folders.length && files.length + folders.length < MOST_NAMES; at += 1) {
    for (const entry of entriesOf(folders[at] ?? folder)) {
      const path = join(folders[at] ?? folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile()) files.push(path);
    }
  }
  return files;
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && "errno" in error) return [];
    throw error;
  }
}

const BEGINNING_BYTES = 2048;

function readBeginning(path: string): string {
  try {
    const file = openSync(path, "r");
    try {
      const bytes = Buffer.alloc(BEGINNING_BYTES);
      return bytes.toString("utf8", 0, readSync(file, bytes, 0, BEGINNING_BYTES, 0));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (error instanceof Error && "errno" in error) return "";
    throw error;
  }
}
