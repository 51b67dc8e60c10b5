/** Tells a link that an import found by the copies of a session from one that its file states: only the former may be replaced. */
export const foundSources = {
  name: "0011-found-sources",
  statements: [
    `ALTER TABLE session ADD COLUMN parent_found INTEGER NOT NULL DEFAULT 0 /* 1: its file does not state its source, an import found it by the
  copies; another session that turns out to have the originals replaces it */`,
  ],
};
