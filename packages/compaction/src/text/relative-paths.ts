const SPECIAL = /[.*+?^${}()|[\]\\]/g;

/**
 * Makes the paths in a text relative to a directory. With `/home/ada/app`, the path `/home/ada/app/src/a.ts` becomes
 * `src/a.ts`, also behind `file://`, and the directory itself becomes `.`; `/home/ada/app-old/a.ts` stays as it is. Both
 * kinds of slashes match. null, an empty directory or a root: texts stay as they are. Linear.
 *
 * @example
 * makePathsRelativeTo("/home/ada/app")("see /home/ada/app/src/a.ts"); // "see src/a.ts"
 */
export function makePathsRelativeTo(directory: string | null): (text: string) => string {
  const parts = (directory ?? "").replace(/[\\/]+$/, "").split(/[\\/]/);
  if (parts.length < 2) return (text) => text;
  const whole = parts.map((part) => part.replace(SPECIAL, "\\$&")).join(String.raw`[\\/]`);
  const path = new RegExp(String.raw`(?<![\w.~\\/-])(?:file:\/\/)?${whole}(?:([\\/])(?=[^\s"'${"`"},;:()\]}<>])|(?![\w-]|\.\w))`, "g");
  return (text) => text.replace(path, (_found, slash: string | undefined) => (slash === undefined ? "." : ""));
}
