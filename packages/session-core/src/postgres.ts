// The subpath `@bough/session-core/postgres`: stores on a PostgreSQL server, beyond what `openStore({ url })` opens.
export { PATH_TABLES, SESSION_TABLES } from "./postgres/schema.js";
