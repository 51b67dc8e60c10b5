// The subpath `@bough/session-core/postgres`: what the owner of a PostgreSQL server needs beyond `openStore({ url })`.
export { distribution, type GrantOptions, grants, type SchemaName } from "./postgres/administration.js";
