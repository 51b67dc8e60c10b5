// A role that may create in the schemas of a database plants functions, operators and views that fit the statements of Bough better than what they
// mean, whatever the types of their arguments: each function and operator of PostgreSQL with one argument of another type. A superuser then uses a store
// with every kind of statement. Nothing that was planted may run.
//
// BOUGH_TEST_POSTGRES_NATIVE=/folder (with bin, lib, share) tries another version of PostgreSQL; 14 is the oldest that is supported.
import { createRequire } from "node:module";
import { grants } from "@bough/postgres";
import { assistantMessage, copySessions, openStore, userMessage } from "@bough/session-core";
import { startPostgres } from "../../../.ci/postgres-server.mjs";

const { Client } = createRequire(new URL("../../../packages/postgres/package.json", import.meta.url))("pg");

const PLANTED = /planted/;

/** SQL that plants in a schema what PostgreSQL lets a role plant; returns how much. */
const planting = (schema) => `
  CREATE FUNCTION pg_temp.plant() RETURNS integer LANGUAGE plpgsql AS $plant$
  DECLARE
    others text[] := ARRAY['text', 'integer', 'bigint', 'double precision', 'anycompatible', 'varchar'];
    f record; place integer; other text; args text[]; made integer := 0;
    body text := 'BEGIN RAISE EXCEPTION ''planted''; END';
  BEGIN
    FOR f IN SELECT proname, prorettype::regtype::text AS returns, ARRAY(SELECT t::regtype::text FROM unnest(proargtypes) AS t) AS types
      FROM pg_catalog.pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f' AND pronargs BETWEEN 1 AND 4
        AND proname !~ '(in|out|recv|send|sel|joinsel|_handler|_support)$' AND prorettype NOT IN ('internal'::regtype, 'cstring'::regtype, 'trigger'::regtype)
    LOOP
      FOR place IN 1 .. array_length(f.types, 1) LOOP
        FOREACH other IN ARRAY others LOOP
          args := f.types; args[place] := other;
          CONTINUE WHEN args = f.types;
          BEGIN
            EXECUTE format('CREATE FUNCTION ${schema}.%I(%s) RETURNS %s LANGUAGE plpgsql AS %L', f.proname, array_to_string(args, ', '), f.returns, body);
            made := made + 1;
          EXCEPTION WHEN OTHERS THEN NULL;
          END;
        END LOOP;
      END LOOP;
    END LOOP;
    FOR f IN SELECT DISTINCT oprname, oprleft::regtype::text AS l, oprright::regtype::text AS r, oprresult::regtype::text AS returns
      FROM pg_catalog.pg_operator WHERE oprnamespace = 'pg_catalog'::regnamespace AND oprkind = 'b' AND oprleft::regtype::text IN
        ('smallint', 'integer', 'bigint', 'double precision', 'numeric', 'text', 'tsvector', 'tsquery', 'timestamp with time zone', 'anyarray', 'anycompatiblearray')
    LOOP
      FOREACH other IN ARRAY others || ARRAY['integer[]', 'text[]', 'tsquery[]'] LOOP
        FOR place IN 1 .. 2 LOOP
          BEGIN
            args := CASE place WHEN 1 THEN ARRAY[other, f.r] ELSE ARRAY[f.l, other] END;
            EXECUTE format('CREATE FUNCTION ${schema}.planted(%s) RETURNS %s LANGUAGE plpgsql AS %L', array_to_string(args, ', '), f.returns, body);
          EXCEPTION WHEN OTHERS THEN NULL;
          END;
          BEGIN
            EXECUTE format('CREATE OPERATOR ${schema}.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = ${schema}.planted)', f.oprname, args[1], args[2]);
            made := made + 1;
          EXCEPTION WHEN OTHERS THEN NULL;
          END;
        END LOOP;
      END LOOP;
    END LOOP;
    RETURN made;
  END $plant$;
  SELECT pg_temp.plant() AS made`;

/** Views with the names of tables, which run a function when they are read. */
const VIEWS = [
  "session",
  "entry",
  "run",
  "leaf",
  "label",
  "value",
  "word",
  "commit_mark",
  "store_version",
  "pg_roles",
  "pg_class",
  "pg_proc",
];

const viewOf = (schema, name) => `CREATE VIEW ${schema}.${name} AS SELECT ${schema}.planted(1::bigint, 'x'::text) AS version`;

export async function planted(attack) {
  const native = process.env.BOUGH_TEST_POSTGRES_NATIVE;
  const server = await startPostgres(native === undefined ? {} : { native });
  try {
    const [{ version }] = await sql(server.url, "SELECT current_setting('server_version_num')::int / 10000 AS version");
    attack.count(`on PostgreSQL ${version}: functions and operators planted`, 0);
    await inPublic(attack, server.url, version);
    await inOwnSchema(attack, server.url, version);
  } finally {
    await server.stop();
  }
}

async function inPublic(attack, superuser, version) {
  const { url, evil, role } = await database(superuser, "in_public");
  await sql(url, `GRANT CREATE, USAGE ON SCHEMA public TO ${role}`);
  attack.count(`on PostgreSQL ${version}: functions and operators planted`, await plant(evil, "public", attack));
  await control(attack, url);
  await use(attack, url, "planted in public", `${url}?schema=second`);
  for (const statement of grants({ role })) await sql(url, statement);
  // The function under row-level security runs with the rights of the owner, whoever calls it.
  await use(attack, `${evil}?tenant=other`, "planted in public, used by the role itself");
}

async function inOwnSchema(attack, superuser, version) {
  const { url, evil, role } = await database(superuser, "in_own");
  await (await openStore({ url })).close();
  await sql(url, `GRANT CREATE, USAGE ON SCHEMA bough TO ${role}`);
  attack.count(`on PostgreSQL ${version}: functions and operators planted`, await plant(evil, "bough", attack));
  await use(attack, url, "planted in the schema of the store");
}

async function database(superuser, name) {
  const role = `evil_${name}`;
  await sql(superuser, `CREATE ROLE ${role} LOGIN PASSWORD 'of-evil'`);
  await sql(superuser, `CREATE DATABASE ${name}`);
  const address = (user, password) => Object.assign(new URL(superuser), { username: user, password, pathname: `/${name}` }).href;
  const of = new URL(superuser);
  return { url: address(of.username, of.password), evil: address(role, "of-evil"), role };
}

async function plant(evil, schema, attack) {
  const [{ made }] = await sql(evil, planting(schema));
  for (const name of VIEWS) await sql(evil, viewOf(schema, name)).catch(() => attack.count("names of views that are taken"));
  return made;
}

/** What was planted is dangerous: a statement with the schema in its path runs it. */
async function control(attack, url) {
  const dangerous = "SELECT ts_rank('{1,1,1,1}', to_tsvector('simple', 'x'), 'x'::tsquery, 1)";
  const ran = await sql(url, `SET search_path = public; ${dangerous}`).then(
    () => false,
    (error) => PLANTED.test(error.message),
  );
  if (!ran) attack.finding("nothing that was planted runs in a statement that has it in its path: this attack tries nothing");
}

/** Uses a store with every kind of statement. */
async function use(attack, url, where, copyTo) {
  const attempt = async (what, run) => {
    attack.count("operations");
    try {
      return await run();
    } catch (error) {
      attack.finding(`${where}: ${what}: ${PLANTED.test(error.message) ? "RAN what was planted" : "failed"}: ${error.message}`);
      return undefined;
    }
  };
  const store = await attempt("open", () => openStore({ url }));
  if (store === undefined) return;
  try {
    const session = await store.createSession({ id: "s", title: "The plan", cwd: "/home/ada", metadata: { app: "x", owner: "u" } });
    const steps = {
      append: () => session.append(userMessage("the launch code is 12345")),
      reply: () =>
        session.append(assistantMessage("done", { model: "m", provider: "p", usage: { input: 1, output: 2, cost: { total: 0.5 } } })),
      again: () =>
        session.append(assistantMessage("more", { model: "m", provider: "p", usage: { input: 1, output: 2, cost: { total: 0.5 } } })),
      move: async () => session.moveLeaf((await session.path())[0].id),
      undo: () => session.undoMove(),
      label: () => session.labels.set(session.leafId, "here"),
      value: () => session.values.set("k", { a: 1 }),
      values: () => session.values.list(),
      counts: () => session.tokenCounts.save("c", new Map([[session.leafId, 3]])),
      context: () => session.context(),
      list: () => session.list({ limit: 5 }),
      outline: () => session.tree.outline(),
      scan: () => session.scan({ limit: 5 }),
      fork: () => store.forkSession("s", { id: "f" }),
      tree: () => store.forkSession("s", { id: "g", tree: true }),
      sessions: () => store.listSessions(),
      directory: () => store.listSessions({ cwd: "/home/ada", sinceMs: 1 }),
      below: () => store.listSessions({ under: ["/home"] }),
      member: () => store.listSessions({ metadata: { app: "x" } }),
      parent: () => store.listSessions({ parentId: "s", kind: "all" }),
      search: () => store.search({ query: "launch" }),
      part: () => store.search({ query: "aunc" }),
      phrase: () => store.search({ query: '"launch code"' }),
      expression: () => store.search({ query: "/la.nch/" }),
      several: () => store.search({ query: "launch code done", roles: ["user"], cwd: "/home/ada" }),
      statistics: () => store.statistics(),
      totals: () => store.totalsOf(["s"]),
      rename: () => store.renameSession("s", "Another"),
      archive: () => store.archiveSession("f"),
      verify: async () => {
        for await (const violation of store.verify()) throw new Error(`a violation: ${JSON.stringify(violation)}`);
      },
      delete: () => store.deleteSession("g"),
    };
    for (const [what, run] of Object.entries(steps)) await attempt(what, run);
    if (copyTo !== undefined) await attempt("copy", () => copyInto(store, copyTo));
    await attempt("delete all", async () => {
      for (const id of ["s", "f"]) await store.deleteSession(id);
    });
  } finally {
    await store.close();
  }
}

async function copyInto(store, url) {
  const other = await openStore({ url });
  try {
    await copySessions(store, other);
  } finally {
    await other.close();
  }
}

async function sql(url, text) {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const answer = await client.query(text);
    return (Array.isArray(answer) ? answer.at(-1) : answer).rows;
  } finally {
    await client.end();
  }
}
