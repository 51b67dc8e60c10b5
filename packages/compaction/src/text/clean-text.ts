// Colors and cursor moves of terminals; then what is left of control characters, and marks that turn the direction of
// what follows, with which a text can be made to read other than it is. Each pattern starts at one character and stops
// before the next such one, so the cost is linear.
const ESCAPE = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?)/g;
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** A text as a model or a screen may read it: line breaks as \n, no control characters but those and tabs, no half surrogate pair. */
export function cleanText(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(ESCAPE, "").replace(CONTROL, "").toWellFormed();
}

const SPECIAL = /[.*+?^${}()|[\]\\]/g;

/**
 * Makes the paths in a text relative to a directory. With `/home/ada/app`, the path `/home/ada/app/src/a.ts` becomes
 * `src/a.ts`, also behind `file://`, and the directory itself becomes `.`; `/home/ada/app-old/a.ts` stays as it is. Both
 * kinds of slashes match. null, an empty directory or a root: texts stay as they are. Linear.
 *
 * @example
 * pathsRelativeTo("/home/ada/app")("see /home/ada/app/src/a.ts"); // "see src/a.ts"
 */
export function makePathsRelativeTo(directory: string | null): (text: string) => string {
  const parts = (directory ?? "").replace(/[\\/]+$/, "").split(/[\\/]/);
  if (parts.length < 2) return (text) => text;
  const whole = parts.map((part) => part.replace(SPECIAL, "\\$&")).join(String.raw`[\\/]`);
  const path = new RegExp(String.raw`(?<![\w.~\\/-])(?:file:\/\/)?${whole}(?:([\\/])(?=[^\s"'${"`"},;:()\]}<>])|(?![\w-]|\.\w))`, "g");
  return (text) => text.replace(path, (_found, slash: string | undefined) => (slash === undefined ? "." : ""));
}
