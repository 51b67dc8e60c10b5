/** A replacement of one text by another, anywhere in a line. */
interface TextReplacement {
  readonly kind: "text";
  readonly before: string;
  readonly after: string;
  /** True: each place is replaced; false: the first one. */
  readonly all: boolean;
}

/** A replacement of whole lines, as patches contain it: looked for after the place of the one before it. */
export interface LineReplacement {
  readonly kind: "lines";
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** A line above the place, as after Codex's `@@`; null: not given. */
  readonly context: string | null;
  /** The number of the first line in the old text, from 1; null: not given. */
  readonly nearLine: number | null;
}

/** An insertion after a line, from 1; 0: before the first line; null: at the end. */
interface Insertion {
  readonly kind: "insert";
  readonly afterLine: number | null;
  readonly text: string;
}

export type Replacement = TextReplacement | LineReplacement | Insertion;

/** A step of an edit: at a position of the text as the steps before it left it, some characters were replaced by others. */
export interface Splice {
  readonly at: number;
  readonly removed: string;
  readonly inserted: string;
  /** True if the text has no other place to which the step fits. */
  readonly isOnly: boolean;
}

/** The text after an edit, and its steps in their order; undefined: a step does not fit. */
export interface AppliedEdit {
  readonly text: string;
  readonly splices: readonly Splice[];
}

/**
 * Applies the replacements of one call, one after the other. Nothing is applied if one of them does not fit. Line breaks are those of the
 * text: in one with CR LF, a replacement with LF fits. Cost: linear in the text for each replacement.
 *
 * @example
 * applyReplacements("one\ntwo", [{ kind: "text", before: "two", after: "three", all: false }])?.text; // "one\nthree"
 */
export function applyReplacements(text: string, replacements: readonly Replacement[]): AppliedEdit | undefined {
  const applied = applyAll(text, replacements);
  if (applied !== undefined || !text.includes("\r\n")) return applied;
  const unix = applyAll(text.replaceAll("\r\n", "\n"), replacements);
  return unix === undefined ? undefined : { ...unix, text: unix.text.replaceAll("\n", "\r\n") };
}

function applyAll(text: string, replacements: readonly Replacement[]): AppliedEdit | undefined {
  const splices: Splice[] = [];
  let now = text;
  // The lines before it belong to earlier hunks of a patch.
  let fromLine = 0;
  for (const replacement of replacements) {
    const steps = findSteps(now, replacement, fromLine);
    if (steps === undefined) return undefined;
    for (const step of steps.splices) {
      now = now.slice(0, step.at) + step.inserted + now.slice(step.at + step.removed.length);
      splices.push(step);
    }
    fromLine = steps.nextLine;
  }
  return { text: now, splices };
}

interface Steps {
  readonly splices: readonly Splice[];
  readonly nextLine: number;
}

function findSteps(text: string, replacement: Replacement, fromLine: number): Steps | undefined {
  switch (replacement.kind) {
    case "text": {
      const splices = replaceText(text, replacement);
      return splices && { splices, nextLine: fromLine };
    }
    case "insert":
      return { splices: [insertText(text, replacement)], nextLine: fromLine };
    case "lines":
      return replaceLines(text, replacement, fromLine);
  }
}

/**
 * The text before a replacement, from the text after it; undefined: the written text is not there, or at several places.
 *
 * @example
 * revertReplacement("one\nthree", { kind: "text", before: "two", after: "three", all: false }); // "one\ntwo"
 */
export function revertReplacement(text: string, replacement: Replacement): string | undefined {
  const splices = replacement.kind === "lines" ? revertLines(text, replacement) : revertText(text, replacement);
  const [splice, other] = splices ?? [];
  if (splice === undefined || other !== undefined || !splice.isOnly) return undefined;
  return text.slice(0, splice.at) + splice.inserted + text.slice(splice.at + splice.removed.length);
}

function revertText(text: string, replacement: TextReplacement | Insertion): readonly Splice[] | undefined {
  const [before, after] = replacement.kind === "text" ? [replacement.before, replacement.after] : ["", replacement.text];
  return after === "" ? undefined : replaceText(text, { kind: "text", before: after, after: before, all: false });
}

function revertLines(text: string, { before, after }: LineReplacement): readonly Splice[] | undefined {
  if (after.length === 0) return undefined;
  return replaceLines(text, { kind: "lines", before: after, after: before, context: null, nearLine: null }, 0)?.splices;
}

/** Most places that a replacement of all of them is split into; of more, it is one splice of all between the first and the last. */
const MOST_PLACES = 200;

function replaceText(text: string, { before, after, all }: TextReplacement): readonly Splice[] | undefined {
  // An edit of nothing creates the file.
  if (before === "") return text === "" ? [{ at: 0, removed: "", inserted: after, isOnly: true }] : undefined;
  const first = text.indexOf(before);
  if (first < 0) return undefined;
  const second = text.indexOf(before, first + 1);
  if (!all || second < 0) return [{ at: first, removed: before, inserted: after, isOnly: second < 0 }];
  const places: number[] = [];
  for (let at = first; at >= 0; at = text.indexOf(before, at + before.length)) places.push(at);
  if (places.length > MOST_PLACES) {
    const removed = text.slice(first, (places.at(-1) ?? first) + before.length);
    return [{ at: first, removed, inserted: removed.replaceAll(before, () => after), isOnly: true }];
  }
  const growth = after.length - before.length;
  return places.map((at, index) => ({ at: at + index * growth, removed: before, inserted: after, isOnly: true }));
}

function insertText(text: string, { afterLine, text: inserted }: Insertion): Splice {
  if (afterLine === null) return { at: text.length, removed: "", inserted, isOnly: true };
  let at = 0;
  for (let line = 0; line < afterLine && at < text.length; line += 1) {
    const end = text.indexOf("\n", at);
    at = end < 0 ? text.length : end + 1;
  }
  const start = at === text.length && at > 0 && text[at - 1] !== "\n" ? "\n" : "";
  return { at, removed: "", inserted: `${start}${inserted.endsWith("\n") ? inserted : `${inserted}\n`}`, isOnly: true };
}

/** The ways in which lines are compared, the strictest first, as Codex does it. */
const COMPARISONS: readonly ((line: string) => string)[] = [(line) => line, (line) => line.trimEnd(), (line) => line.trim()];

function replaceLines(text: string, replacement: LineReplacement, fromLine: number): Steps | undefined {
  const lines = text.split("\n");
  if (replacement.before.length === 0) return appendLines(text, lines, replacement);
  const start = skipContext(lines, replacement.context, fromLine);
  // A hunk may end with the empty line after the last line break.
  const withoutEnd = replacement.before.at(-1) === "" ? replacement.before.slice(0, -1) : replacement.before;
  for (const before of new Set([replacement.before, withoutEnd])) {
    const after = before === replacement.before || replacement.after.at(-1) !== "" ? replacement.after : replacement.after.slice(0, -1);
    for (const form of COMPARISONS) {
      const places = findRuns(lines, before, form, start, replacement.nearLine);
      const [line] = places;
      if (line === undefined) continue;
      // Codex takes the first place after the last hunk, git the one at the line number: both say which place is meant.
      const isOnly = places.length === 1 || replacement.context !== null || replacement.nearLine !== null;
      return { splices: [spliceLines(lines, line, before.length, after, isOnly)], nextLine: line + after.length };
    }
  }
  return undefined;
}

function spliceLines(lines: readonly string[], line: number, count: number, after: readonly string[], isOnly: boolean): Splice {
  const at = lines.slice(0, line).reduce((sum, one) => sum + one.length + 1, 0);
  const isEnd = line + count >= lines.length;
  const removed = lines.slice(line, line + count).join("\n");
  if (after.length > 0) return { at, removed, inserted: after.join("\n"), isOnly };
  // Lines that go take a line break with them.
  if (!isEnd) return { at, removed: `${removed}\n`, inserted: "", isOnly };
  return line === 0 ? { at, removed, inserted: "", isOnly } : { at: at - 1, removed: `\n${removed}`, inserted: "", isOnly };
}

function appendLines(text: string, lines: readonly string[], { after }: LineReplacement): Steps {
  const start = text === "" || text.endsWith("\n") ? "" : "\n";
  const splice = { at: text.length, removed: "", inserted: `${start}${after.join("\n")}\n`, isOnly: true };
  return { splices: [splice], nextLine: lines.length + after.length };
}

function skipContext(lines: readonly string[], context: string | null, fromLine: number): number {
  if (context === null) return fromLine;
  for (const form of COMPARISONS) {
    const at = lines.findIndex((line, index) => index >= fromLine && form(line) === form(context));
    if (at >= 0) return at + 1;
  }
  return fromLine;
}

/** At most two places of a run of lines, the nearest to `nearLine` first, or the first one. */
function findRuns(
  lines: readonly string[],
  run: readonly string[],
  form: (line: string) => string,
  start: number,
  nearLine: number | null,
): readonly number[] {
  const wanted = run.map(form);
  const places: number[] = [];
  for (let at = nearLine === null ? start : 0; at + wanted.length <= lines.length; at += 1) {
    if (nearLine === null && places.length === 2) break;
    if (wanted.every((line, index) => form(lines[at + index] ?? "") === line)) places.push(at);
  }
  if (nearLine !== null) places.sort((one, other) => Math.abs(one - nearLine + 1) - Math.abs(other - nearLine + 1));
  return places.slice(0, 2);
}
