import {
  type Arguments,
  classifyCall,
  classifyTool,
  findCommand,
  findContent,
  findPath,
  findTextEdits,
  type NamedCall,
  PATCH_ARGUMENTS,
  parseTodos,
  type Todo,
} from "@bough/session-core/view";

/** A replacement of a text in a file. `all`: of each of its occurrences. */
interface CommonEdit {
  readonly before: string;
  readonly after: string;
  readonly all: boolean;
}

/** Calls of the tools that most agents have: the kind of each, and its arguments without the names that one agent gives them. */
interface CommonActions {
  /** `offset`: the first line, from 1. */
  readonly read: { readonly path: string; readonly offset?: number | undefined; readonly limit?: number | undefined };
  readonly write: { readonly path: string; readonly content: string };
  readonly edit: { readonly path: string; readonly edits: readonly CommonEdit[] };
  readonly shell: { readonly command: string; readonly folder?: string | undefined };
  readonly grep: {
    readonly pattern: string;
    readonly path?: string | undefined;
    readonly glob?: string | undefined;
    readonly ignoreCase: boolean;
    /** True if the result is the names of the files, not their lines. */
    readonly onlyFiles: boolean;
  };
  readonly glob: { readonly pattern: string; readonly path?: string | undefined };
  readonly list: { readonly path: string };
  readonly plan: { readonly todos: readonly Todo[] };
}

/** A call of such a tool. */
export type CommonCall<K extends keyof CommonActions = keyof CommonActions> = { [A in K]: { readonly kind: A } & CommonActions[A] }[K];

const PATTERNS = ["pattern", "query", "regex"];
const FOLDERS = ["path", "directory", "dir_path", "target_directory", "folder"];
const FILTERS = ["glob", "include", "include_pattern", "file_pattern"];
const IGNORE_CASE = ["ignoreCase", "ignore_case", "case_insensitive", "-i"];
const ALL = ["replace_all", "replaceAll", "expected_replacements"];
const WORKING_FOLDERS = ["workdir", "cwd", "working_directory"];

const GREPS = /^(?:grep|greptool|grepsearch|ripgrep|rg|searchfilecontent)$/;
const GLOBS = /^(?:glob|globtool|find|findfiles|filesearch)$/;
const LISTS = /^(?:ls|listdir|listdirectory|listfiles)$/;
/** Tools that read something else than lines of one file, and those that edit something else than its text. */
const NOT_TEXT = /image|media|notebook|many|multiple/;

/** Reads the action of a call of a known tool; undefined: it has no counterpart in most agents, or arguments of an unknown shape. */
export function readCommonCall(call: NamedCall): CommonCall | undefined {
  const name = call.name.replace(/[^\p{L}\p{N}]/gu, "").toLowerCase();
  if (call.name.includes("__") || NOT_TEXT.test(name)) return undefined;
  switch (classifyCall(call) ?? classifyTool(call.name)) {
    case "read":
      return readRead(call.arguments);
    case "write":
      return readWrite(call);
    case "edit":
      return readEdit(call.arguments);
    case "patch":
      return readPatch(call.arguments);
    case "command":
      return readShell(call);
    case "search":
      return readSearch(call, name);
    case "plan": {
      const todos = parseTodos(call);
      return todos === null || todos.length === 0 ? undefined : { kind: "plan", todos };
    }
    case "delete":
    case "move":
    case undefined:
      return undefined;
  }
}

function readRead(args: Arguments): CommonCall | undefined {
  const path = findPath(args)?.text;
  if (path === undefined) return undefined;
  const [from, to] = [numberIn(args, ["offset", "start_line", "startLine"]), numberIn(args, ["end_line", "endLine"])];
  const limit = numberIn(args, ["limit"]) ?? (from === undefined || to === undefined ? undefined : to - from + 1);
  return { kind: "read", path, ...(from === undefined ? {} : { offset: from }), ...(limit === undefined ? {} : { limit }) };
}

function readWrite(call: NamedCall): CommonCall | undefined {
  const [path, content] = [findPath(call.arguments)?.text, findContent(call)?.text];
  return path === undefined || content === undefined ? undefined : { kind: "write", path, content };
}

function readEdit(args: Arguments): CommonCall | undefined {
  const [path, found] = [findPath(args)?.text, findTextEdits(args)];
  if (path === undefined || found === undefined) return undefined;
  // An edit that names a file of its own belongs to another tool.
  if (found.edits.some(({ rest }) => findPath(rest) !== undefined)) return undefined;
  const isAll = (given: Arguments) => ALL.some((name) => given[name] === true || Number(given[name]) > 1);
  const edits = found.edits.map(({ before, after, rest }) => ({ before, after, all: isAll(rest) || isAll(args) }));
  return { kind: "edit", path, edits };
}

function readShell(call: NamedCall): CommonCall | undefined {
  const command = findCommand(call)?.script;
  const folder = textIn(call.arguments, WORKING_FOLDERS);
  return command === undefined ? undefined : { kind: "shell", command, ...(folder === undefined ? {} : { folder }) };
}

function readSearch({ name: given, arguments: args }: NamedCall, name: string): CommonCall | undefined {
  const [pattern, path] = [textIn(args, PATTERNS), textIn(args, FOLDERS)];
  const at = path === undefined ? {} : { path };
  if (LISTS.test(name)) return { kind: "list", path: path ?? "." };
  if (pattern === undefined) return undefined;
  if (GLOBS.test(name)) return { kind: "glob", pattern, ...at };
  if (!GREPS.test(name)) return undefined;
  const glob = textIn(args, FILTERS);
  const ignoreCase = IGNORE_CASE.some((one) => args[one] === true);
  // Claude Code's Grep lists files by default.
  const onlyFiles = (args["output_mode"] ?? (given === "Grep" ? "files_with_matches" : undefined)) === "files_with_matches";
  return { kind: "grep", pattern, ...at, ...(glob === undefined ? {} : { glob }), ignoreCase, onlyFiles };
}

/** A patch of Codex that adds a file or changes one; undefined: it does something else. */
function readPatch(args: Arguments): CommonCall | undefined {
  const lines = textIn(args, PATCH_ARGUMENTS)?.trim().split(/\r?\n/) ?? [];
  const [, verb, path] = /^\*\*\* (Add|Update) File: (.+)$/.exec(lines[1] ?? "") ?? [];
  const body = lines.slice(2, -1);
  const isOther =
    lines[0] !== "*** Begin Patch" || lines.at(-1) !== "*** End Patch" || body.some((line) => /^\*\*\* (?!End of File)/.test(line));
  if (path === undefined || isOther) return undefined;
  if (verb === "Update") return { kind: "edit", path, edits: readHunks(body) };
  return body.every((line) => line.startsWith("+"))
    ? { kind: "write", path, content: `${body.map((line) => line.slice(1)).join("\n")}\n` }
    : undefined;
}

function readHunks(lines: readonly string[]): readonly CommonEdit[] {
  const hunks: string[][] = [];
  for (const line of lines) {
    if (line.startsWith("@@")) hunks.push([]);
    else if (hunks.length === 0) hunks.push([line]);
    else hunks.at(-1)?.push(line);
  }
  const side = (hunk: readonly string[], other: string) =>
    hunk
      .filter((line) => !line.startsWith(other) && !line.startsWith("***"))
      .map((line) => line.slice(1))
      .join("\n");
  return hunks.filter((hunk) => hunk.length > 0).map((hunk) => ({ before: side(hunk, "+"), after: side(hunk, "-"), all: false }));
}

function textIn(args: Arguments, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}

function numberIn(args: Arguments, names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    if (typeof value === "number" && Number.isFinite(value)) return value;
  }
  return undefined;
}

/** The programs whose tools calls can be written for. */
export type ToolAgent = "pi" | "claude" | "codex" | "opencode";

/** The tools of a program: their names and their arguments. undefined: it has none for this. */
type Tools = { readonly [K in keyof CommonActions]: (call: CommonCall<K>, cwd: string) => NamedCall | undefined };

const named = (name: string, args: Arguments): NamedCall => ({
  name,
  arguments: Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined && value !== false)),
});

const PI: Tools = {
  read: ({ path, offset, limit }) => named("read", { path, offset, limit }),
  write: ({ path, content }) => named("write", { path, content }),
  // It replaces a text that occurs once.
  edit: ({ path, edits }) =>
    edits.some(({ all }) => all)
      ? undefined
      : named("edit", { path, edits: edits.map(({ before, after }) => ({ oldText: before, newText: after })) }),
  shell: (call, cwd) => named("bash", { command: inFolder(call, cwd) }),
  grep: ({ pattern, path, glob, ignoreCase }) => named("grep", { pattern, path, glob, ignoreCase }),
  glob: ({ pattern, path }) => named("find", { pattern, path }),
  list: ({ path }) => named("ls", { path }),
  plan: () => undefined,
};

const CLAUDE: Tools = {
  read: ({ path, offset, limit }, cwd) => named("Read", { file_path: absolute(path, cwd), offset, limit }),
  write: ({ path, content }, cwd) => named("Write", { file_path: absolute(path, cwd), content }),
  edit: ({ path, edits }, cwd) => {
    const written = edits.map(({ before, after, all }) => ({
      old_string: before,
      new_string: after,
      ...(all ? { replace_all: true } : {}),
    }));
    const file_path = absolute(path, cwd);
    return written.length === 1 ? named("Edit", { file_path, ...written[0] }) : named("MultiEdit", { file_path, edits: written });
  },
  shell: (call, cwd) => named("Bash", { command: inFolder(call, cwd) }),
  grep: ({ pattern, path, glob, ignoreCase, onlyFiles }) =>
    named("Grep", { pattern, path, glob, "-i": ignoreCase, output_mode: onlyFiles ? "files_with_matches" : "content" }),
  glob: ({ pattern, path }) => named("Glob", { pattern, path }),
  list: ({ path }) => named("Bash", { command: `ls ${quoted(path)}` }),
  plan: ({ todos }) =>
    named("TodoWrite", { todos: todos.map(({ text, state }) => ({ content: text, status: STATUS[state], activeForm: text })) }),
};

const CODEX: Tools = {
  read: ({ path, offset, limit }) => named("exec_command", { cmd: readCommand(path, offset, limit) }),
  write: ({ path, content }) => patch([`*** Add File: ${path}`, ...toLines(content).map((line) => `+${line}`)]),
  edit: ({ path, edits }) => (edits.some(({ all }) => all) ? undefined : patch([`*** Update File: ${path}`, ...edits.flatMap(toHunk)])),
  shell: ({ command, folder }, cwd) => named("exec_command", { cmd: command, workdir: folder === cwd ? undefined : folder }),
  grep: ({ pattern, path, glob, ignoreCase, onlyFiles }) => {
    const options = [onlyFiles ? "-l" : "-n", ...(ignoreCase ? ["-i"] : []), ...(glob === undefined ? [] : ["-g", quoted(glob)])];
    return named("exec_command", {
      cmd: ["rg", ...options, "-e", quoted(pattern), ...(path === undefined ? [] : [quoted(path)])].join(" "),
    });
  },
  glob: ({ pattern, path }) =>
    named("exec_command", { cmd: ["rg --files -g", quoted(pattern), ...(path === undefined ? [] : [quoted(path)])].join(" ") }),
  list: ({ path }) => named("exec_command", { cmd: `ls ${quoted(path)}` }),
  plan: ({ todos }) => named("update_plan", { plan: todos.map(({ text, state }) => ({ step: text, status: STATUS[state] })) }),
};

const OPENCODE: Tools = {
  read: ({ path, offset, limit }, cwd) => named("read", { filePath: absolute(path, cwd), offset, limit }),
  write: ({ path, content }, cwd) => named("write", { filePath: absolute(path, cwd), content }),
  edit: ({ path, edits }, cwd) => {
    const [first] = edits;
    if (first !== undefined && edits.length === 1)
      return named("edit", { filePath: absolute(path, cwd), oldString: first.before, newString: first.after, replaceAll: first.all });
    if (edits.some(({ all }) => all)) return undefined;
    return named("apply_patch", { patchText: patchOf([`*** Update File: ${path}`, ...edits.flatMap(toHunk)]) });
  },
  shell: ({ command, folder }, cwd) => named("bash", { command, description: command, workdir: folder === cwd ? undefined : folder }),
  grep: ({ pattern, path, glob, ignoreCase }) => named("grep", { pattern: ignoreCase ? `(?i)${pattern}` : pattern, path, include: glob }),
  glob: ({ pattern, path }) => named("glob", { pattern, path }),
  list: ({ path }) => named("bash", { command: `ls ${quoted(path)}`, description: `ls ${path}` }),
  plan: ({ todos }) =>
    named("todowrite", { todos: todos.map(({ text, state }) => ({ content: text, status: STATUS[state], priority: "medium" })) }),
};

const STATUS: Readonly<Record<Todo["state"], string>> = { open: "pending", doing: "in_progress", done: "completed" };

const AGENTS: Readonly<Record<ToolAgent, Tools>> = { pi: PI, claude: CLAUDE, codex: CODEX, opencode: OPENCODE };

/** The call of the tool with which a program does this; undefined: it has none. `cwd`: the folder of the session; "": unknown. */
export function writeCommonCall<K extends keyof CommonActions>(call: CommonCall<K>, agent: ToolAgent, cwd: string): NamedCall | undefined {
  return AGENTS[agent][call.kind](call, cwd);
}

function inFolder({ command, folder }: CommonCall<"shell">, cwd: string): string {
  return folder === undefined || folder === cwd ? command : `cd ${quoted(folder)} && ${command}`;
}

/** Claude Code takes absolute paths only. */
function absolute(path: string, cwd: string): string {
  const isAbsolute = /^(?:[/~\\]|[A-Za-z]:[\\/])/.test(path);
  return isAbsolute || cwd === "" ? path : `${cwd.replace(/[\\/]$/, "")}/${path.replace(/^\.\//, "")}`;
}

function readCommand(path: string, offset: number | undefined, limit: number | undefined): string {
  if (offset === undefined && limit === undefined) return `cat ${quoted(path)}`;
  const first = Math.max(1, offset ?? 1);
  return `sed -n '${first},${limit === undefined ? "$" : first + limit - 1}p' ${quoted(path)}`;
}

/** A word of a shell command. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function patch(lines: readonly string[]): NamedCall {
  return { name: "apply_patch", arguments: { input: patchOf(lines) } };
}

function patchOf(lines: readonly string[]): string {
  return ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
}

function toHunk({ before, after }: CommonEdit): readonly string[] {
  return ["@@", ...toLines(before).map((line) => `-${line}`), ...toLines(after).map((line) => `+${line}`)];
}

/** The lines of a text; none of an empty one. */
function toLines(text: string): readonly string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}
