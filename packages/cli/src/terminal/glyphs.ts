/** The characters of trees, rules and marks, each in Unicode and in ASCII. */
const GLYPHS = {
  // The gutter of a tree: connectors of a side branch, at the top and below a row, and the line beside a branch. Lists of forks use
  // `lastBranch` and `nothing` for the last one.
  firstBranch: ["┌─ ", ",- "],
  branch: ["├─ ", "|- "],
  lastBranch: ["└─ ", "`- "],
  through: ["│  ", "|  "],
  nothing: ["   ", "   "],
  onPath: ["•", "*"],
  arrow: ["←", "<-"],
  error: ["✗", "!"],
  ellipsis: ["…", "..."],
  dot: ["·", "-"],
  to: ["→", "->"],
  // Before what an entry has started.
  child: ["↳", "+>"],
  // Before the selected row.
  cursor: ["›", ">"],
  // The row is folded; the row can be folded.
  folded: ["▸", "+"],
  unfolded: ["▾", "-"],
  // Keys and directions of a list.
  up: ["↑", "Up"],
  down: ["↓", "Down"],
  // Between panes; where a bar meets a rule.
  bar: ["│", "|"],
  rule: ["─", "-"],
  cross: ["┼", "+"],
  // Before an item of a list.
  bullet: ["•", "-"],
  // The two parts of a bar.
  full: ["█", "#"],
  empty: ["░", "."],
} as const satisfies Readonly<Record<string, readonly [unicode: string, ascii: string]>>;

type GlyphName = keyof typeof GLYPHS;

/** The characters that are drawn, as Unicode or ASCII. */
export interface Glyphs extends Readonly<Record<GlyphName, string>> {
  /** True if only ASCII may be drawn. */
  readonly isAscii: boolean;
  /** Frames of an animation while work runs. */
  readonly spinner: readonly string[];
}

/** The default without an environment. */
export const UNICODE_GLYPHS: Glyphs = { ...glyphsIn(0), isAscii: false, spinner: ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"] };

const ASCII_GLYPHS: Glyphs = { ...glyphsIn(1), isAscii: true, spinner: ["|", "/", "-", "\\"] };

function glyphsIn(column: 0 | 1): Readonly<Record<GlyphName, string>> {
  return Object.assign({}, ...Object.entries(GLYPHS).map(([name, pair]) => ({ [name]: pair[column] })));
}

/** ASCII if `BOUGH_ASCII` is set or the locale is not UTF-8; Unicode if no locale is set. */
export function glyphsFor(env: Readonly<Record<string, string | undefined>>): Glyphs {
  const wanted = env["BOUGH_ASCII"];
  if (wanted !== undefined && wanted !== "") return wanted === "0" ? UNICODE_GLYPHS : ASCII_GLYPHS;
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "";
  return locale === "" || /utf-?8/i.test(locale) ? UNICODE_GLYPHS : ASCII_GLYPHS;
}

/** A share (0 to 1) as a bar of `columns`. More than 1 fills the bar; any share above 0 fills at least one column. */
export function barText(share: number, columns: number, { full, empty }: Pick<Glyphs, "full" | "empty">): string {
  const filled = Math.min(share > 0 ? Math.max(Math.round(share * columns), 1) : 0, columns);
  return full.repeat(filled) + empty.repeat(columns - filled);
}
