/** How the first line of our own files says what it is. */
export const BOUGH_TYPE = "bough-session";

/** The version of our own format that is written, and the newest that is read. */
export const BOUGH_VERSION = 1;
