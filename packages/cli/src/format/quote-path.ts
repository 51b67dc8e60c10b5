import { safe } from "../terminal/safe.js";

/**
 * A path as an argument of a shell, quoted if it must be. What a terminal would interpret or hide is written in octal in `$'…'`, which bash, zsh,
 * ksh and POSIX of 2024 know.
 */
export function quotePath(path: string): string {
  if (/^[\w/.:@~-]+$/.test(path)) return path;
  if (safe(path) === path) return `'${path.replaceAll("'", "'\\''")}'`;
  const written = [...path].map((character) => (safe(character) === character && !/['\\]/.test(character) ? character : octal(character)));
  return `$'${written.join("")}'`;
}

function octal(character: string): string {
  return [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
}
