/** The formats of `bough export`. */
export const EXPORT_FORMATS = ["markdown", "html", "bough", "pi", "claude", "codex", "opencode"] as const;

/** A format of `bough export`. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

const BY_ENDING: readonly (readonly [ending: string, format: ExportFormat])[] = [
  [".pi.jsonl", "pi"],
  [".jsonl", "bough"],
  [".html", "html"],
  [".htm", "html"],
  [".md", "markdown"],
  [".markdown", "markdown"],
];

/** The format that the ending of a file name stands for, in any case; undefined: it stands for none. */
export function exportFormatOf(path: string): ExportFormat | undefined {
  const name = path.toLowerCase();
  return BY_ENDING.find(([ending]) => name.endsWith(ending))?.[1];
}
