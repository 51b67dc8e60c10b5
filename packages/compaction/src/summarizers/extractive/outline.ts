/** What an extract is marked with; its first line starts so. */
export const MARKER = "Extracted mechanically; no model wrote this.";

/** Says how many lines of a block had no place; the next extract does not carry it on. */
export const LEFT_OUT = /^\(\d+ more left out\)$/;

/** How the lines of a block stand on the page. */
export type LineStyle = "quote" | "list" | "done" | "open" | "steps" | "inline" | "plain";

/** One block of an extract. */
export interface BlockShape {
  readonly heading: string;
  /** A heading below it, as `### Done`. */
  readonly under?: string | undefined;
  /** Stands alone on the line before the block's lines, or before them on their one line (`inline`). */
  readonly lead?: string | undefined;
  readonly style: LineStyle;
}

/**
 * The blocks of an extract in their order on the page. The headings are those of pi's structured summary, and four more for
 * what a machine can tell by itself.
 */
export const OUTLINE = {
  goal: { heading: "Goal", style: "quote" },
  requests: { heading: "Goal", lead: "Then asked:", style: "list" },
  latest: { heading: "Goal", lead: "Asked last:", style: "quote" },
  earlier: { heading: "Earlier Summary", style: "plain" },
  rules: { heading: "Constraints & Preferences", style: "list" },
  done: { heading: "Progress", under: "Done", style: "done" },
  open: { heading: "Progress", under: "In Progress", style: "open" },
  blocked: { heading: "Progress", under: "Blocked", style: "list" },
  decisions: { heading: "Key Decisions", style: "list" },
  errors: { heading: "Errors", style: "list" },
  changed: { heading: "Files", lead: "Changed:", style: "list" },
  read: { heading: "Files", lead: "Read:", style: "inline" },
  last: { heading: "Last State", style: "quote" },
  next: { heading: "Next Steps", style: "steps" },
  commands: { heading: "Critical Context", lead: "Commands that worked:", style: "inline" },
  names: { heading: "Critical Context", lead: "Names:", style: "inline" },
  numbers: { heading: "Critical Context", lead: "Numbers:", style: "inline" },
} as const satisfies Readonly<Record<string, BlockShape>>;

/** Names a block. */
export type BlockName = keyof typeof OUTLINE;

/** All of them, in their order on the page. */
export const BLOCK_NAMES = Object.keys(OUTLINE) as readonly BlockName[];

/** The shape of a block, as the widest type. */
export function shapeOf(name: BlockName): BlockShape {
  return OUTLINE[name];
}

/** One line of a block on its way to the page. */
export interface Line {
  readonly text: string;
  /** The lower, the sooner it has a place. */
  readonly rank: number;
}

/** The lines of each block, in their order on the page, already safe. */
export type Blocks = Readonly<Record<BlockName, readonly Line[]>>;
