/** The signs that drawings are made of. */
export interface Glyphs {
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
  /** Before the selected row. */
  readonly cursor: string;
  /** What hangs below is folded away, or can be. */
  readonly folded: string;
  readonly unfolded: string;
  /** Between panes. */
  readonly bar: string;
  readonly rule: string;
  /** Where a bar meets a rule. */
  readonly cross: string;
  /** Before an item of a list. */
  readonly bullet: string;
  /** What bars are made of. */
  readonly full: string;
  readonly empty: string;
  /** Whether only ASCII may be drawn. */
  readonly isAscii: boolean;
  /** Drawn one after the other while something runs. */
  readonly spinner: readonly string[];
}

/** The default where no environment is given. */
export const UNICODE_GLYPHS: Glyphs = {
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
  cursor: "›",
  folded: "▸",
  unfolded: "▾",
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
  cursor: ">",
  folded: "+",
  unfolded: "-",
  bar: "|",
  rule: "-",
  cross: "+",
  bullet: "-",
  full: "#",
  empty: ".",
  isAscii: true,
  spinner: ["|", "/", "-", "\\"],
};

/** Plain ASCII with `BOUGH_ASCII` or under a locale that is not UTF-8. No locale at all says nothing against UTF-8. */
export function glyphsFor(env: Readonly<Record<string, string | undefined>>): Glyphs {
  const wanted = env["BOUGH_ASCII"];
  if (wanted !== undefined && wanted !== "") return wanted === "0" ? UNICODE_GLYPHS : ASCII_GLYPHS;
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "";
  return locale === "" || /utf-?8/i.test(locale) ? UNICODE_GLYPHS : ASCII_GLYPHS;
}

/** A share of something as a bar of `columns`; more than all of it fills the bar, and anything at all shows. */
export function barText(share: number, columns: number, { full, empty }: Pick<Glyphs, "full" | "empty">): string {
  const filled = Math.min(share > 0 ? Math.max(Math.round(share * columns), 1) : 0, columns);
  return full.repeat(filled) + empty.repeat(columns - filled);
}
