import { join } from "node:path";

/** A path as it was typed at the prompt: `~/` is the person's own folder, as in a shell. */
export function typedPath(text: string, home: string): string {
  if (text === "~") return home;
  return text.startsWith("~/") ? join(home, text.slice(2)) : text;
}

/** What a file of this name is to hold; undefined: its name does not say. */
export function exportFormat(path: string): "markdown" | "bough" | "pi" | undefined {
  const name = path.toLowerCase();
  if (name.endsWith(".pi.jsonl")) return "pi";
  if (name.endsWith(".jsonl")) return "bough";
  return name.endsWith(".md") || name.endsWith(".markdown") ? "markdown" : undefined;
}
