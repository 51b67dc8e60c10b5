/** The characters of trees, rules and marks, as Unicode or ASCII. */
export interface Glyphs {
  /**
   * The gutter of a tree: connectors of a side branch, at the top and below a row, and the line beside a branch. Lists of forks
   * use `lastBranch` and `nothing` for the last one.
   */
  readonly firstBranch: string;
  readonly branch: string;
  readonly lastBranch: string;
  readonly through: string;
  readonly nothing: string;
  readonly onPath: string;
  readonly arrow: string;
  readonly error: string;
  readonly ellipsis: string;
  readonly dot: string;
  readonly to: string;
  /** Before what an entry has started. */
  readonly child: string;
  /** Before the selected row. */
  readonly cursor: string;
  /** The row is folded; the row can be folded. */
  readonly folded: string;
  readonly unfolded: string;
  /** Keys and directions of a list. */
  readonly up: string;
  readonly down: string;
  /** Between panes. */
  readonly bar: string;
  readonly rule: string;
  /** Where a bar meets a rule. */
  readonly cross: string;
  /** Before an item of a list. */
  readonly bullet: string;
  /** The two parts of a bar. */
  readonly full: string;
  readonly empty: string;
  /** True if only ASCII may be drawn. */
  readonly isAscii: boolean;
  /** Frames of an animation while work runs. */
  readonly spinner: readonly string[];
}

/** The default without an environment. */
export const UNICODE_GLYPHS: Glyphs = {
  firstBranch: "┌─ ",
  branch: "├─ ",
  lastBranch: "└─ ",
  through: "│  ",
  nothing: "   ",
  onPath: "•",
  arrow: "←",
  error: "✗",
  ellipsis: "…",
  dot: "·",
  to: "→",
  child: "↳",
  cursor: "›",
  folded: "▸",
  unfolded: "▾",
  up: "↑",
  down: "↓",
  bar: "│",
  rule: "─",
  cross: "┼",
  bullet: "•",
  full: "█",
  empty: "░",
  isAscii: false,
  spinner: ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"],
};

const ASCII_GLYPHS: Glyphs = {
  firstBranch: ",- ",
  branch: "|- ",
  lastBranch: "`- ",
  through: "|  ",
  nothing: "   ",
  onPath: "*",
  arrow: "<-",
  error: "!",
  ellipsis: "...",
  dot: "-",
  to: "->",
  child: "+>",
  cursor: ">",
  folded: "+",
  unfolded: "-",
  up: "Up",
  down: "Down",
  bar: "|",
  rule: "-",
  cross: "+",
  bullet: "-",
  full: "#",
  empty: ".",
  isAscii: true,
  spinner: ["|", "/", "-", "\\"],
};

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
