// Without imports: the schema of the config file names the filters, and reading it loads nothing of the store.

/** All filters, in the order in which a key cycles through them. */
export const TREE_FILTERS = ["default", "no-tools", "user", "labeled", "summaries", "all"] as const;

/**
 * Which rows of a tree are shown. `default`: the conversation, without tool results and bookkeeping; `no-tools`: the same without
 * replies that only call tools; `user`: the user's messages; `labeled`: entries with a label; `summaries`: compactions and branch
 * summaries; `all`: every row.
 */
export type TreeFilter = (typeof TREE_FILTERS)[number];
