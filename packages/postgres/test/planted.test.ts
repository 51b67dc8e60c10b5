import { openStore, userMessage } from "@bough/session-core";
import { beforeEach, describe, expect, test } from "vitest";
import { MIGRATIONS } from "../src/migrate.js";
import { grants, openWithSteps } from "../src/open.js";
import { openError, ownServer, withUrl } from "./server.js";

// Roles of one database that do not trust each other. Whatever one of them creates must not run with the rights of another one that uses a
// store. Here the role `evil` creates, and a superuser opens the store: code of `evil` that runs leaves a row in the table `loot`.

const server = ownServer();

let url: string;
let evil: string;

const LOOT = "INSERT INTO public.loot VALUES (current_user);";

/** Functions that fit the literals of calls better than those of pg_catalog, or as well. */
const BETTER_FITTING = (schema: string) => [
  `CREATE FUNCTION ${schema}.ts_rank(text, tsvector, tsquery, integer) RETURNS real LANGUAGE plpgsql AS $$ BEGIN ${LOOT} RETURN 0.1; END $$`,
  `CREATE FUNCTION ${schema}.hashtextextended(text, integer) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN ${LOOT} RETURN 5; END $$`,
  `CREATE FUNCTION ${schema}.left(text, bigint) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN ${LOOT} RETURN $1; END $$`,
  `CREATE FUNCTION ${schema}.added(float8, integer) RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN ${LOOT} RETURN 1; END $$`,
  `CREATE OPERATOR ${schema}.+ (LEFTARG = float8, RIGHTARG = integer, FUNCTION = ${schema}.added)`,
  `CREATE FUNCTION ${schema}.current_setting(text, anyelement) RETURNS text LANGUAGE plpgsql AS $$ BEGIN ${LOOT} RETURN ''; END $$`,
];

beforeEach(async () => {
  url = await server.newDatabase();
  const name = `evil_${new URL(url).pathname.slice(1)}`;
  evil = withUrl(url, { username: name, password: "of-evil" });
  await server.run(`CREATE ROLE ${name} LOGIN PASSWORD 'of-evil'`);
  // Until version 14 of PostgreSQL everybody may.
  await server.run(`GRANT CREATE, USAGE ON SCHEMA public TO ${name}`, url);
  await server.run(`CREATE TABLE public.loot (role text); GRANT INSERT ON public.loot TO PUBLIC`, url);
});

const roleOf = (address: string) => new URL(address).username;

async function plant(statements: readonly string[]): Promise<void> {
  for (const statement of statements) await server.run(statement, evil);
}

/** Uses a store of the superuser, and returns who ran code of `evil`. */
async function lootAfterUse(): Promise<unknown> {
  const store = await openStore({ url });
  const session = await store.createSession({ id: "s", title: "Plan", cwd: "/home/ada", metadata: { app: "x" } });
  await session.append(userMessage("the launch code is 12345"));
  expect((await store.search({ query: "launch" })).total).toBe(1);
  await store.listSessions({ cwd: "/home/ada" });
  await store.forkSession("s", { id: "fork" });
  await store.close();
  return server.run("SELECT DISTINCT role FROM public.loot", url);
}

describe("what another role created is not run", () => {
  test("functions and operators in `public` that fit the calls of Bough better", async () => {
    await plant(BETTER_FITTING("public"));
    expect(await lootAfterUse()).toEqual([]);
  });

  test("functions in `public` during the upgrade of a store of version 1, nor later by its function that runs as the owner", async () => {
    const options = { url, mode: "create", durability: "full", busyTimeoutMs: 5000, fileTools: {} } as const;
    await (await openWithSteps(options, MIGRATIONS.slice(0, 1))).close();
    await plant(BETTER_FITTING("public"));
    expect(await lootAfterUse()).toEqual([]);
    for (const statement of grants({ role: roleOf(evil) })) await server.run(statement, url);
    const store = await openStore({ url: evil });
    await store.search({ query: "launch" });
    await store.close();
    expect(await server.run("SELECT role FROM public.loot WHERE role <> current_user", url)).toEqual([]);
  });

  test("functions in the schema of the store, where the role was allowed to create", async () => {
    await (await openStore({ url })).close();
    await server.run(`GRANT CREATE, USAGE ON SCHEMA bough TO ${roleOf(evil)}`, url);
    await plant(BETTER_FITTING("bough"));
    expect(await lootAfterUse()).toEqual([]);
  });
});

describe("a store is not used", () => {
  const refused = (what: string) => ({
    code: "SERVER_UNSUITABLE",
    message: expect.stringContaining(
      `${what} belongs to the role ${roleOf(evil)}, whose code would run with the rights of this connection`,
    ),
    hint: expect.stringContaining("owner=ROLE"),
  });

  test("whose schema another role made before", async () => {
    await server.run(`GRANT CREATE ON DATABASE ${new URL(url).pathname.slice(1)} TO ${roleOf(evil)}`, url);
    await plant(["CREATE SCHEMA bough"]);
    expect(await openError({ url })).toMatchObject(refused("the schema bough"));
    expect(await server.run("SELECT 1 FROM pg_tables WHERE schemaname = 'bough'", url)).toEqual([]);
  });

  test("whose tables belong to another role, for reading neither", async () => {
    await (await openStore({ url })).close();
    await server.run(`GRANT USAGE, CREATE ON SCHEMA bough TO ${roleOf(evil)}; ALTER TABLE bough.entry OWNER TO ${roleOf(evil)}`, url);
    for (const mode of ["create", "read-only"] as const) {
      expect(await openError({ url, mode })).toMatchObject(refused("the table entry"));
    }
  });

  test("with a trigger of another role on one of its tables, also on a partition", async () => {
    await (await openStore({ url, partitions: 2 })).close();
    await server.run(`GRANT USAGE ON SCHEMA bough TO ${roleOf(evil)}; GRANT TRIGGER ON ALL TABLES IN SCHEMA bough TO ${roleOf(evil)}`, url);
    await plant([
      `CREATE FUNCTION public.robbed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${LOOT} RETURN NEW; END $$`,
      "CREATE TRIGGER robber BEFORE INSERT ON bough.entry_1 FOR EACH ROW EXECUTE FUNCTION public.robbed()",
    ]);
    expect(await openError({ url })).toMatchObject(refused("the function of the trigger robber on the table entry_1"));
  });

  test("when its tables would be created where others may create", async () => {
    await server.run("CREATE SCHEMA bough; GRANT CREATE ON SCHEMA bough TO PUBLIC", url);
    expect(await openError({ url })).toMatchObject({
      code: "SERVER_UNSUITABLE",
      message: expect.stringContaining("the right to create in the schema bough belongs to the role PUBLIC"),
      hint: "Take it away: REVOKE CREATE ON SCHEMA bough FROM PUBLIC",
    });
  });
});

test("a role that is named as the owner in the address is trusted; the owner of the database always is", async () => {
  await server.run(`GRANT CREATE ON DATABASE ${new URL(url).pathname.slice(1)} TO ${roleOf(evil)}`, url);
  await (await openStore({ url: evil })).close();
  expect(await openError({ url })).toMatchObject({ code: "SERVER_UNSUITABLE" });
  await (await openStore({ url: `${url}?owner=${roleOf(evil)}` })).close();
  await server.run(`ALTER DATABASE ${new URL(url).pathname.slice(1)} OWNER TO ${roleOf(evil)}`, url);
  await (await openStore({ url })).close();
});
