// The package `@bough/postgres`: `openStore({ url })` of @bough/session-core loads it. The other exports are for the owner of a server.
export { distribution, type GrantOptions, grants, openPostgres, type PostgresOptions, type SchemaName } from "./open.js";
