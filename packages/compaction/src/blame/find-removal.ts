import { posix } from "node:path";

/** Returns the absolute path that a path means in a folder, or in that of the session; undefined: unknown. */
type Resolve = (path: string, folder?: string) => string | undefined;

/** Commands that may bring a removed file back. */
const RESTORES = /\bgit\s+(?:checkout|restore|reset|revert|stash|switch|pull|merge|rebase)\b/;
/** Options of one letter that contain `r`. Patterns here stay linear: a script may have megabytes. */
const SHORT_OPTIONS = /^-[a-z]+$/i;
const SEPARATOR = /[;\s]/;

/**
 * Tells whether a script that succeeded removed one of the paths or, with `-r`, a folder above it, by its name in the folder in which the
 * command runs. "perhaps": the success of the script does not prove that the command ran, or a later command names what was removed or may
 * bring it back.
 *
 * @example
 * findRemoval("cd src && rm -f a.ts; ls", ["/p/src/a.ts"], (path, folder = "/p") => posix.join(folder, path)); // "done"
 */
export function findRemoval(script: string, paths: readonly string[], resolve: Resolve): "done" | "perhaps" | "none" {
  // The lines of a heredoc are text of another file.
  if (script.includes("<<")) return "none";
  let folder: string | undefined;
  let removed: readonly string[] = [];
  let isCertain = true;
  for (const { command, isProven } of listCommands(script)) {
    const entered = /^\s*cd\s+(\S+)\s*$/.exec(command)?.[1];
    if (entered !== undefined) folder = resolve(withoutQuotes(entered), folder);
    const gone = removedBy(command, paths, (path) => resolve(path, folder));
    if (gone.length > 0) {
      removed = [...removed, ...[...gone, ...paths].map((path) => posix.basename(path))];
      isCertain &&= isProven;
    } else if (removed.length > 0 && mayBringBack(command, removed)) isCertain = false;
  }
  if (removed.length === 0) return "none";
  return isCertain ? "done" : "perhaps";
}

/** Commands that do not fail where the rest of their line makes sense. */
const NO_CONDITION = /^\s*(?:cd|export|set)\s/;

interface Command {
  readonly command: string;
  /** True if the command ran, given that the script succeeded. */
  readonly isProven: boolean;
}

/** The commands of a script in their order. One after `||` is not proven; one after `&&` only where the status of the script is that of its line. */
function listCommands(script: string): readonly Command[] {
  const pieces = withoutEnd(script, SEPARATOR).split(/(\|\||[;|\n])/);
  const lines = pieces.filter((_, at) => at % 2 === 0);
  return lines.flatMap((line, at) => {
    const commands = line.split("&&");
    const isAlternative = pieces[2 * at - 1] === "||";
    const isLast = at === lines.length - 1;
    return commands.map((command, place) => ({
      command,
      isProven: !isAlternative && (isLast || commands.slice(0, place).every((before) => NO_CONDITION.test(before))),
    }));
  });
}

/** The absolute paths, out of those that a command names after `rm`, that are one of the paths or a folder above one. */
function removedBy(command: string, paths: readonly string[], resolve: Resolve): readonly string[] {
  const named = /^\s*(?:git\s+)?rm\s/.exec(command)?.[0];
  if (named === undefined || command.includes("--cached", named.length)) return [];
  const words = command
    .slice(named.length)
    .trimStart()
    .split(/\s+/)
    .map((given) => {
      const word = withoutQuotes(given);
      return word.slice(0, 1) + withoutEnd(word.slice(1), /\//);
    });
  const isRecursive = words.some((word) => word === "--recursive" || (SHORT_OPTIONS.test(word) && /r/i.test(word)));
  return words
    .map((word) => resolve(word))
    .filter((gone) => gone !== undefined)
    .filter((gone) => paths.some((path) => path === gone || (isRecursive && path.startsWith(`${gone}/`))));
}

function mayBringBack(command: string, removed: readonly string[]): boolean {
  return RESTORES.test(command) || removed.some((name) => command.includes(name) && !/^\s*mkdir\s/.test(command));
}

function withoutQuotes(word: string): string {
  return word.replace(/^(["'])(.*)\1$/, "$2");
}

/** A text without the characters at its end that match. A pattern that ends in `+$` takes quadratic time where something follows. */
function withoutEnd(text: string, character: RegExp): string {
  let end = text.length;
  while (end > 0 && character.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
