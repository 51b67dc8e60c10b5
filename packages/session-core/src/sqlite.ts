// The subpath `@bough/session-core/sqlite`: better-sqlite3 as the store opens it, for who reads SQLite files of other programs. Its types need
// `@types/better-sqlite3`.
export { openSqlite } from "./sqlite/file/driver.js";
