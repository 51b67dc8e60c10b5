/** The leaf that every session has. */
export const MAIN_LEAF = "main";
