/** The operation of a tool on the files in its arguments. `patch`: the paths are inside the text of a patch. */
export type FileToolKind = "read" | "write" | "edit" | "delete" | "move" | "patch";

/** The kind of a tool: `command` runs a shell command, `search` finds files or text, `plan` keeps a list of tasks. */
export type ToolKind = FileToolKind | "command" | "search" | "plan";

/** The kind of a file tool, and the arguments that name its files. */
export interface FileTool {
  readonly kind: FileToolKind;
  /** Arguments that hold a path or a list of paths; default: the common names (`path`, `file_path`, …). */
  readonly pathArguments?: readonly string[] | undefined;
}

/** File tools of the host, by the exact name that the model calls; they take precedence over the known ones. */
export type FileTools = Readonly<Record<string, FileTool>>;

/**
 * The tools of known agents, by normalized name: Claude Code, pi, oh-my-pi, Codex, Gemini CLI, Copilot, OpenCode, Cline,
 * Cursor, aider and the MCP file server. A tool of another agent is added here, its argument names in `arguments.ts`.
 */
const KNOWN_TOOLS: Readonly<Record<string, ToolKind>> = {
  read: "read",
  readfile: "read",
  readtextfile: "read",
  readmediafile: "read",
  readmultiplefiles: "read",
  readmanyfiles: "read",
  readnotebook: "read",
  notebookread: "read",
  fileread: "read",
  view: "read",
  viewfile: "read",
  viewimage: "read",
  openfile: "read",
  getfilecontents: "read",
  cat: "read",
  write: "write",
  writefile: "write",
  writetofile: "write",
  filewrite: "write",
  create: "write",
  createfile: "write",
  createnewfile: "write",
  createorupdatefile: "write",
  savefile: "write",
  edit: "edit",
  editfile: "edit",
  editfiles: "edit",
  fileedit: "edit",
  multiedit: "edit",
  multieditfile: "edit",
  editnotebook: "edit",
  editnotebookfile: "edit",
  notebookedit: "edit",
  inserteditintofile: "edit",
  insert: "edit",
  replace: "edit",
  replaceinfile: "edit",
  replacefilecontent: "edit",
  multireplacefilecontent: "edit",
  replacestringinfile: "edit",
  multireplacestringinfile: "edit",
  searchreplace: "edit",
  searchandreplace: "edit",
  strreplace: "edit",
  strreplaceeditor: "edit",
  strreplacebasededittool: "edit",
  texteditor: "edit",
  applydiff: "edit",
  appendfile: "edit",
  applypatch: "patch",
  patch: "patch",
  delete: "delete",
  deletefile: "delete",
  deletefiles: "delete",
  remove: "delete",
  removefile: "delete",
  unlink: "delete",
  move: "move",
  movefile: "move",
  rename: "move",
  renamefile: "move",
  mv: "move",
  bash: "command",
  cmd: "command",
  command: "command",
  console: "command",
  containerexec: "command",
  exec: "command",
  execcommand: "command",
  execute: "command",
  executecommand: "command",
  localshell: "command",
  powershell: "command",
  run: "command",
  runcommand: "command",
  runinterminal: "command",
  runterminalcmd: "command",
  runterminalcommand: "command",
  runshellcommand: "command",
  sh: "command",
  shell: "command",
  shellcommand: "command",
  shellexec: "command",
  terminal: "command",
  zsh: "command",
};

/** Kinds by the shape of a normalized name, for tools that are not in the table. The first match counts. */
const NAME_PATTERNS: readonly (readonly [ToolKind, RegExp])[] = [
  ["plan", /^(?:(?:write|manage|update|set)?todos?(?:list|write|update)?|updateplan|plan)$/],
  ["search", /^(?:grep|glob|ls$|list|(?:search|find)(?!(?:and)?replace)|codebasesearch|semanticsearch|web|fetch|query)/],
  ["read", /^(?:(?:get)?read|view|open|cat|notebookread|fileread|getfilecontents)/],
  ["write", /^(?:write|create|save|filewrite)/],
  ["delete", /^(?:delete|remove|unlink)/],
  ["move", /^(?:move|rename|mv)/],
  ["patch", /^(?:applypatch|patch)/],
  [
    "edit",
    /^(?:edit|multi(?:edit|replace)|insert|replace|strreplace|search(?:and)?replace|apply(?:diff|edit)|notebookedit|fileedit|append|texteditor)/,
  ],
  ["command", /(?:bash|shell|terminal|exec|(?:run|exec)command)$/],
];

// Normalizing a name takes longer than all the rest that an entry's file operations need. A session uses few tools, but the names
// come from models, so their number is limited.
const kinds = new Map<string, ToolKind | undefined>();
const MAX_CACHED_NAMES = 1000;

/** The kind of a tool of a known agent; undefined for any other name. */
export function findKnownToolKind(name: string): ToolKind | undefined {
  if (kinds.has(name)) return kinds.get(name);
  const normalized = normalizeToolName(name);
  const kind = Object.hasOwn(KNOWN_TOOLS, normalized) ? KNOWN_TOOLS[normalized] : undefined;
  if (kinds.size >= MAX_CACHED_NAMES) kinds.clear();
  kinds.set(name, kind);
  return kind;
}

/** The kind of a known tool, or else the kind that the tool's name suggests. */
export function classifyTool(name: string): ToolKind | undefined {
  const known = findKnownToolKind(name);
  if (known !== undefined) return known;
  const normalized = normalizeToolName(name);
  return NAME_PATTERNS.find(([, pattern]) => pattern.test(normalized))?.[0];
}

/** `mcp__files__Read_File`, `functions.read_file` and `readFile` are one tool: the last part, letters and digits only. */
function normalizeToolName(name: string): string {
  const last = name.split(/__|[./:]/).at(-1) ?? name;
  return last.replace(/[^\p{L}\p{N}]/gu, "").toLowerCase();
}
