/** What a file of this name can be: a checkpoint has a number of at least three digits, then a title. */
const NAME = /^(\d{3,9})-.+\.md$/;

/** Longest title inside a file name, in characters: names are for reading, and 255 bytes are the limit of most file systems. */
const MAX_SLUG = 60;

/**
 * The name of a checkpoint's file: `NNN-title.md`, Copilot CLI's form. Only small Latin letters, digits and dashes come
 * from the title, so no title leaves the folder, hides a file, or means something on any file system.
 *
 * @example
 * checkpointName(3, "Mending the Parser!"); // "003-mending-the-parser.md"
 */
export function checkpointName(number: number, title: string): string {
  return `${String(number).padStart(3, "0")}-${slugOf(title)}.md`;
}

/** The number in a file's name; null: no checkpoint has such a name. */
export function numberInName(name: string): number | null {
  const [, digits] = NAME.exec(name) ?? [];
  return digits === undefined ? null : Number(digits);
}

/** What another writer holds while it writes the file of a number, and the file before it is complete. */
export function claimName(number: number): string {
  return `.${String(number).padStart(3, "0")}.tmp`;
}

function slugOf(title: string): string {
  const words = title
    // A title is short; a long one need not be taken apart to its end.
    .slice(0, 1_000)
    // Letters with marks become the letter and the mark, which then goes: "é" is "e".
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  const slug = (words ?? []).join("-").slice(0, MAX_SLUG).replace(/-$/, "");
  return slug === "" ? "checkpoint" : slug;
}
