import { rmSync } from "node:fs";
import { openStore } from "@bough/session-core";
import Database from "better-sqlite3";

/** The tables with a row for each entry, or for many of them, of an import. */
const TABLES = ["entry", "payload", "file_operation", "entry_waypoint"];

/**
 * A contestant: the rows that an import has written, inserted into an empty store by the driver alone, in one transaction, entry by entry as an
 * import does. No import into these tables can be faster. `imported`: the path of the store of the import, which may be open.
 */
export function barely(stores, imported) {
  let file;
  let inserts;
  return {
    prepare: async () => {
      file?.close();
      const path = stores.path("bare.db");
      rmSync(path, { force: true });
      await (await openStore({ path })).close();
      file = new Database(path);
      for (const pragma of ["foreign_keys = on", "synchronous = full", "cache_size = -16384", "wal_autocheckpoint = 32768"])
        file.pragma(pragma);
      inserts = insertsOf(file, imported());
    },
    run: () => {
      file.exec("BEGIN IMMEDIATE");
      for (const [statement, row] of inserts) statement.run(row);
      file.exec("COMMIT");
    },
  };
}

/** Each row with its statement: the session, then the rows of each entry in their order. */
function insertsOf(file, imported) {
  const from = new Database(imported, { readonly: true });
  const columnsOf = (table) => from.prepare("SELECT name FROM pragma_table_info(?)").pluck().all(table);
  const inserts = ["session", ...TABLES].flatMap((table, place) => {
    const columns = columnsOf(table);
    const insert = file.prepare(`INSERT INTO ${table} (${columns}) VALUES (${columns.map(() => "?")})`);
    const rows = from.prepare(`SELECT ${columns} FROM ${table}`).raw().all();
    return rows.map((row) => ({ insert, row, order: table === "session" ? -1 : row[0], place }));
  });
  from.close();
  return inserts.sort((a, b) => a.order - b.order || a.place - b.place).map(({ insert, row }) => [insert, row]);
}
