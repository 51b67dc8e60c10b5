import { normalisedTool, type ToolOutput } from "./tool-output.js";

/** Which file a tool output shows, and which part of it. */
export interface FileRead {
  readonly path: string;
  /** null: the whole file. Parts are the same where these texts are. */
  readonly part: string | null;
}

/** Tools that show one file, by normalised name: of Claude Code, pi, oh-my-pi, Codex, Gemini CLI, Copilot, Cline, Cursor, co-cli. */
const READERS: ReadonlySet<string> = new Set(
  "read readfile readtextfile fileread view viewfile openfile cat readnotebook notebookread".split(" "),
);

/** Anthropic's editors show a file where their command is `view`. */
const EDITORS: ReadonlySet<string> = new Set(["strreplaceeditor", "strreplacebasededittool", "texteditor"]);

/** Arguments that name the file, the first that is there counts. */
const PATHS: readonly string[] = [
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
  "target_file",
  "targetFile",
  "notebook_path",
  "notebookPath",
];

/** Arguments that choose no part of a file: the words of a model about its call, and what a reader is told to do. */
const NO_PART: ReadonlySet<string> = new Set(["command", "description", "explanation", "reason", "should_read_entire_file"]);

/**
 * What an output shows, from the arguments of its call; null: it is no read of one file. Every argument besides the path
 * selects a part, also one that we do not know: then two reads are the same only where they were asked for in the same way.
 */
export function fileReadOf({ tool, arguments: given }: Pick<ToolOutput, "tool" | "arguments">): FileRead | null {
  const name = normalisedTool(tool);
  if (!READERS.has(name) && !(EDITORS.has(name) && given.command === "view")) return null;
  const key = PATHS.find((one) => typeof given[one] === "string" && given[one] !== "");
  if (key === undefined) return null;
  const { path, lines } = withoutLines(String(given[key]));
  const selectors = Object.entries(given).filter(([argument, value]) => argument !== key && !NO_PART.has(argument) && isSet(value));
  if (lines === null && selectors.length === 0) return { path, part: null };
  return { path, part: JSON.stringify([lines, ...selectors.sort(([a], [b]) => (a < b ? -1 : 1))]) };
}

/** Models send null, false or nothing for what they do not want to say. */
function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== "";
}

/** oh-my-pi's reader takes lines behind the path: `src/a.ts:50-100`. */
function withoutLines(given: string): { readonly path: string; readonly lines: string | null } {
  const plain = given.replace(/^(?:\.\/)+/, "");
  const [, path, lines] = /^(.+):(\d[\d,+-]*)$/s.exec(plain) ?? [];
  return path === undefined || lines === undefined ? { path: plain, lines: null } : { path, lines };
}
