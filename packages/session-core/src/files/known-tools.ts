/** What a tool does to the files it is given. `patch`: the paths are inside the text of a patch. */
export type FileToolKind = "read" | "write" | "edit" | "delete" | "move" | "patch";

/** How one tool names its files. */
export interface FileTool {
  readonly kind: FileToolKind;
  /** Arguments that hold a path or a list of them; default: the common names (`path`, `file_path`, …). */
  readonly pathArguments?: readonly string[] | undefined;
}

/**
 * Tools of the agents we know that touch files, by normalised name (see `normalisedName`): Claude Code, pi, oh-my-pi,
 * Codex, Gemini CLI, Copilot, OpenCode, Cline, Cursor, aider and the MCP file server. Extend it with `fileTools` when
 * opening a store.
 */
export const KNOWN_FILE_TOOLS: Readonly<Record<string, FileToolKind>> = {
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
  // A shell touches files in ways that only running it would tell, but a patch handed to it can be read.
  shell: "patch",
  bash: "patch",
  exec: "patch",
  execcommand: "patch",
  localshell: "patch",
  runshellcommand: "patch",
  containerexec: "patch",
};

/** Arguments that name one file or several, in the programs above. */
export const PATH_ARGUMENTS: readonly string[] = [
  "path",
  "file_path",
  "filePath",
  "file",
  "filename",
  "fileName",
  "file_name",
  "absolute_path",
  "absolutePath",
  "relative_path",
  "relativePath",
  "notebook_path",
  "notebookPath",
  "target_file",
  "targetFile",
  "uri",
  "paths",
  "file_paths",
  "filePaths",
  "files",
];

/** A move names two places. */
export const MOVE_ARGUMENTS: readonly string[] = [
  ...PATH_ARGUMENTS,
  "source",
  "from",
  "old_path",
  "oldPath",
  "source_path",
  "sourcePath",
  "destination",
  "to",
  "new_path",
  "newPath",
  "destination_path",
  "destinationPath",
];

/** `mcp__files__Read_File`, `functions.read_file` and `readFile` are one tool: the last part, letters and digits only. */
export function normalisedName(tool: string): string {
  const last = tool.split(/__|[./:]/).at(-1) ?? tool;
  return last.replace(/[^\p{L}\p{N}]/gu, "").toLowerCase();
}
