/** The filters that can be typed in a query. Apart from their parser, so that the help of a command loads nothing of it. */
export const TYPED_FILTERS = ["agent", "dir", "model", "cost", "since", "until", "role", "type", "in", "tool", "path"] as const;

/** The same for a line of help: `agent: dir: …`. */
export const TYPED_FILTER_LINE: string = TYPED_FILTERS.map((name) => `${name}:`).join(" ");
