import { safe } from "../terminal/safe.js";
import { displayWidth, truncate } from "../terminal/width.js";

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

/** A path with the home directory for `~` alone or before a slash, as a shell expands it. */
export function expandHome(path: string, home: string): string {
  return path.replace(/^~(?=[\\/]|$)/, () => home);
}

/** A path with `~` for the home directory. */
export function shortDirectory(path: string, home: string | undefined): string {
  if (home === undefined || home === "" || home === "/") return path;
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** The end of a path in `width` columns, cut between its parts: directories of one machine differ at their ends. */
export function pathEnd(path: string, width: number, ellipsis: string): string {
  const text = safe(path);
  if (displayWidth(text) <= width) return text;
  const parts = text.split("/");
  const room = width - displayWidth(ellipsis);
  let kept = "";
  for (let at = parts.length - 1; at >= 0 && displayWidth(`/${parts[at]}${kept}`) <= room; at -= 1) kept = `/${parts[at]}${kept}`;
  return kept === "" ? truncate(parts.at(-1) ?? "", width, ellipsis) : `${ellipsis}${kept}`;
}
