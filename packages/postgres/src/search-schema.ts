// The schema of a search beside the columns of words: the list of words, and a function for roles under row-level security.

/**
 * The different words of the texts of a tenant, so that parts of words are found. It belongs to no session, and no constraint makes a word
 * unique: a writer would wait for another one that adds the same word. So a word can be there twice.
 */
export const WORD_TABLE = "word";

/** With `pg_trgm`, a part of a word is looked up; without it, the tenant's list is read. A role may not be allowed to create the extension. */
const WORD_LIST: readonly string[] = [
  `CREATE TABLE ${WORD_TABLE} (
    tenant text COLLATE "C" NOT NULL,
    word   text COLLATE "C" NOT NULL)`,
  "CREATE INDEX word_by_tenant ON word (tenant, word)",
  `DO $$ BEGIN
    CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;
  EXCEPTION WHEN OTHERS THEN NULL;
  END $$`,
  `DO $$ DECLARE place text; BEGIN
    SELECT nspname INTO place FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'pg_trgm';
    IF place IS NOT NULL THEN EXECUTE format('CREATE INDEX word_parts ON word USING gin (word %I.gin_trgm_ops)', place); END IF;
  END $$`,
];

export const WORDS_FUNCTION_NAME = "entries_with";

/** The function `entries_with`, for grants. */
export const WORDS_FUNCTION = `${WORDS_FUNCTION_NAME}(tsquery[])`;

/**
 * Under row-level security, the server does not use an index of words: the operator `@@` could tell of rows that the policy hides, in the messages of
 * its errors. The function runs with the rights of the tables' owner, and returns rows of the connection's tenant only.
 */
const FUNCTIONS: readonly string[] = [
  `CREATE FUNCTION entries_with(queries tsquery[]) RETURNS TABLE (session_id text, seq integer)
   LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
   BEGIN
     RETURN QUERY SELECT entry.session_id, entry.seq FROM entry
       WHERE entry.tenant = current_setting('bough.tenant', true) AND entry.words @@ ANY ((SELECT queries)::tsquery[]);
   END $$`,
  `REVOKE ALL ON FUNCTION ${WORDS_FUNCTION} FROM PUBLIC`,
];

/** The statement that creates the function of today, which looks up every name in its schema whoever calls it. */
export function wordsFunction(schema: string): string {
  return `CREATE OR REPLACE FUNCTION ${WORDS_FUNCTION_NAME}(queries tsquery[]) RETURNS TABLE (session_id text, seq integer)
   LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
   BEGIN
     RETURN QUERY SELECT entry.session_id, entry.seq FROM "${schema}".entry
       WHERE entry.tenant = pg_catalog.current_setting('bough.tenant', true) AND entry.words @@ ANY ((SELECT queries)::tsquery[]);
   END $$`;
}

/** The statements that create these, after the tables. */
export const SEARCH_CREATION: readonly string[] = [...WORD_LIST, ...FUNCTIONS];
