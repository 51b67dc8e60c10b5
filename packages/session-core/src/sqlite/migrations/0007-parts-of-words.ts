/** The list of all words of the search index, by which parts of words are found. */
export const partsOfWords = {
  name: "0007-parts-of-words",
  statements: [
    `CREATE TABLE word (
       word TEXT PRIMARY KEY                        -- of an entry or a title, as the search index has it; 3 to 40 characters, no number
     ) STRICT, WITHOUT ROWID`,
    // The words in the indexes of FTS5; these tables store nothing.
    "CREATE VIRTUAL TABLE entry_text_word USING fts5vocab (entry_text, row)",
    "CREATE VIRTUAL TABLE session_text_word USING fts5vocab (session_text, row)",
    `INSERT INTO word SELECT term FROM (SELECT term FROM entry_text_word UNION SELECT term FROM session_text_word)
       WHERE length(term) BETWEEN 3 AND 40 AND term GLOB '*[^0-9]*'`,
  ],
};
