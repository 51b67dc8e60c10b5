/** What a tool is to us, by the name the model calls it. */
export type ToolKind = "reads-file" | "changes-file" | "runs-command" | "plans" | "looks" | "other";

const KINDS: readonly (readonly [ToolKind, RegExp])[] = [
  ["plans", /^(?:(?:write|manage|update|set)?todos?(?:list|write|update)?|updateplan|plan)$/],
  [
    "runs-command",
    /^(?:bash|shell|sh|zsh|cmd|powershell|terminal|exec|execcommand|localshell|containerexec|console|command|run|runcommand|runshellcommand|executecommand|runinterminal|shellexec|shellcommand)$/,
  ],
  ["looks", /^(?:grep|glob|ls$|list|(?:search|find)(?!(?:and)?replace)|codebasesearch|semanticsearch|web|fetch|query)/],
  ["reads-file", /^(?:(?:get)?read|view|open|cat|notebookread|fileread|getfilecontents)/],
  [
    "changes-file",
    /^(?:write|edit|multi(?:edit|replace)|create|insert|replace|strreplace|search(?:and)?replace|apply(?:patch|diff|edit)|patch|notebookedit|file(?:write|edit)|save|append|delete|remove|unlink|move|rename|mv|texteditor)/,
  ],
];

/**
 * The kind of a tool of the agents we know (Claude Code, pi, oh-my-pi, Codex, Gemini CLI, Copilot, OpenCode, Cline, Cursor)
 * and of others whose names say what they do. `mcp__files__Read_File` and `readFile` are one tool.
 */
export function toolKind(name: string): ToolKind {
  const last = name.split(/__|[./:]/).at(-1) ?? name;
  const plain = last.replace(/[^\p{L}\p{N}]/gu, "").toLowerCase();
  return KINDS.find(([, shape]) => shape.test(plain))?.[0] ?? "other";
}
