// A server that its administrators and others make hard to use: cancelled and timed-out statements, settings of roles, an upgrade under open handles,
// texts that no index of PostgreSQL takes, names of tenants, and listeners of another tenant. What was acknowledged is there, once; errors are of
// Bough; what a file takes a server takes too.
import { createRequire } from "node:module";
import { grants } from "@bough/postgres";
import { assistantMessage, BoughError, copySessions, openStore, userMessage } from "@bough/session-core";
import { startPostgres } from "../../../.ci/postgres-server.mjs";

const { Client } = createRequire(new URL("../../../packages/postgres/package.json", import.meta.url))("pg");

/** Settings of a role that must change no answer. */
const SETTINGS = [
  ["extra_float_digits", "-15"],
  ["array_nulls", "off"],
  ["standard_conforming_strings", "off"],
  ["bytea_output", "escape"],
  ["DateStyle", "German"],
  ["IntervalStyle", "sql_standard"],
  ["client_encoding", "LATIN1"],
  ["default_transaction_isolation", "serializable"],
  ["enable_seqscan", "off"],
  ["gin_fuzzy_search_limit", "1"],
  ["default_text_search_config", "pg_catalog.german"],
  ["plan_cache_mode", "force_generic_plan"],
];

const COST = 0.123456789012345;

export async function server(attack) {
  const { url, stop } = await startPostgres();
  const admin = await connected(url);
  try {
    for (let round = 0; attack.hasTime(); round += 1) {
      await settings(attack, admin, url, round);
      await upgraded(attack, admin, url, round);
      await longTexts(attack, url, round);
      await interrupted(attack, admin, url, round);
      await tenants(attack, admin, url, round);
    }
  } finally {
    await admin.end();
    await stop();
  }
}

async function connected(url) {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

/** The code of what fails; a finding if it is no error of Bough. */
async function codeOf(attack, where, work) {
  try {
    await work;
    return "done";
  } catch (error) {
    if (!(error instanceof BoughError)) attack.finding(`${where}: ${error.stack}`);
    return error.code;
  }
}

async function settings(attack, admin, url, round) {
  const [name, value] = attack.random.pick(SETTINGS);
  const schema = `settings_${round}`;
  await admin.query(`ALTER ROLE postgres SET ${name} = '${value}'`);
  try {
    const store = await openStore({ url, schema });
    const session = await store.createSession({ id: "s", title: "O'Reilly \\ back" });
    await session.append(userMessage("quote ' back \\ ünïcödé 日本 zebra"));
    await session.append(assistantMessage("x", { model: "m", provider: "p", usage: { input: 1, output: 2, cost: { total: COST } } }));
    await session.values.set("k", { a: null, b: "\\'" });
    const answers = {
      cost: (await store.totalsOf(["s"])).get("s")?.usage[0]?.costUsd === COST,
      value: JSON.stringify(await session.values.get("k")) === JSON.stringify({ a: null, b: "\\'" }),
      title: (await store.findSession("s"))?.title === "O'Reilly \\ back",
      search: (await store.search({ query: "zebra" })).total === 1,
    };
    for (const [what, isRight] of Object.entries(answers)) if (!isRight) attack.finding(`${name} = ${value}: another ${what}`);
    await store.close();
  } catch (error) {
    attack.finding(`${name} = ${value}: ${error.stack}`);
  }
  await admin.query(`ALTER ROLE postgres RESET ${name}`);
  attack.count("settings");
}

/** A handle that was open when the schema was upgraded must not write. */
async function upgraded(attack, admin, url, round) {
  const schema = `upgraded_${round}`;
  const store = await openStore({ url, schema });
  const session = await store.createSession({ id: "s" });
  await session.append(userMessage("before"));
  await admin.query(`UPDATE ${schema}.store_version SET version = 99, min_reader = 99, min_writer = 99`);
  const writes = {
    append: () => session.append(userMessage("after")),
    write: () => session.write([{ kind: "value", key: "k", value: 1 }]),
    create: () => store.createSession({ id: "n" }),
    label: () => session.labels.set(session.leafId, "x"),
    delete: () => store.deleteSession("s"),
  };
  const name = attack.random.pick(Object.keys(writes));
  const code = await codeOf(attack, `${name} after an upgrade`, writes[name]());
  if (code !== "NEWER_STORE") attack.finding(`${name} after an upgrade: ${code}`);
  await store.close();
  attack.count("writes after an upgrade");
}

/** A text that an index row of PostgreSQL cannot hold is stored, or its session alone is refused. */
async function longTexts(attack, url, round) {
  const length = 2000 + attack.random.below(6000);
  const long = Array.from({ length }, () => String.fromCodePoint(33 + attack.random.below(90))).join("");
  const from = await openStore({ path: ":memory:" });
  const places = [
    () => ({ id: "long", cwd: `/${long}` }),
    () => ({ id: "long", title: long }),
    () => ({ id: "long", metadata: { [long.slice(0, 200)]: long.slice(0, 300) } }),
  ];
  await (await from.createSession(attack.random.pick(places)())).append(
    assistantMessage("x", { model: long, usage: { input: 1, output: 1 } }),
  );
  for (const id of ["before", "behind"]) await (await from.createSession({ id })).append(userMessage(id));
  const to = await openStore({ url, schema: `long_${round}` });
  const report = await copySessions(from, to).catch((error) => attack.finding(`a copy with a text of ${length} stopped: ${error.stack}`));
  const failed = report?.sessions.filter(({ sessionId, outcome }) => outcome !== "copied" && sessionId !== "long") ?? [];
  if (failed.length > 0) attack.finding(`a text of ${length} stopped others: ${JSON.stringify(failed)}`);
  await Promise.all([from.close(), to.close()]);
  attack.count("copies with a long text");
}

/** Cancels and ends what writes; whatever was acknowledged is there, once. */
async function interrupted(attack, admin, url, round) {
  const store = await openStore({ url, schema: `interrupted_${round}`, busyTimeoutMs: 5000 });
  const session = await store.createSession({ id: "s" });
  const acknowledged = new Set();
  const interrupt = attack.random.pick(["pg_cancel_backend", "pg_terminate_backend"]);
  let isRunning = true;
  const interrupting = (async () => {
    while (isRunning)
      await admin.query(`SELECT ${interrupt}(pid) FROM pg_stat_activity WHERE application_name = 'bough' AND state = 'active'`);
  })();
  for (let number = 0; number < 30; number += 1) {
    const code = await codeOf(attack, interrupt, session.append(userMessage(`entry ${number}`), { parentId: null }));
    if (code === "done") acknowledged.add(`entry ${number}`);
    attack.count(`appends under ${interrupt}`);
  }
  isRunning = false;
  await interrupting;
  const stored = [];
  for await (const { message } of session.entries()) stored.push(message.content);
  for (const text of acknowledged) if (!stored.includes(text)) attack.finding(`${interrupt}: ${text} is lost`);
  if (new Set(stored).size !== stored.length) attack.finding(`${interrupt}: an entry is there twice`);
  await store.close();
}

/** Another tenant learns nothing by listening, and odd names are tenants or invalid arguments. */
async function tenants(attack, admin, url, round) {
  const schema = `tenants_${round}`;
  const owner = await openStore({ url, schema, tenant: "owner" });
  const role = `listener_${round}`;
  await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'x'; ${[grants({ schema, role })].flat().join(";\n")}`);
  const address = new URL(url);
  address.username = role;
  address.password = "x";
  const listener = await connected(address.href);
  const heard = [];
  listener.on("notification", ({ payload }) => heard.push(payload));
  await listener.query("SET bough.tenant = 'other'");
  // Whatever the role can see, and what it can guess: the tables, and the name of the schema and the tenant.
  const { rows } = await listener.query(`SELECT * FROM ${schema}.announcement_channel`).catch(() => ({ rows: [] }));
  if (rows.length > 0) attack.finding(`a role of another tenant reads ${rows.length} channels`);
  for (const channel of [`bough_${schema}`, "bough", schema, "owner"]) await listener.query(`LISTEN "${channel}"`);
  await (await owner.createSession({ id: "secret" })).append(userMessage("x"));
  await listener.query("SELECT 1");
  if (heard.length > 0) attack.finding(`a role of another tenant heard ${heard}`);
  await listener.end();
  await owner.close();
  const odd = attack.random.pick(["\ud800", "x".repeat(10_000), "'", '"; DROP', "x -cbough.tenant=owner", "ü".repeat(64), "$user", "\n"]);
  const opened = openStore({ url, schema, tenant: odd }).then(async (store) => {
    if ((await store.listSessions()).items.length > 0) attack.finding(`the tenant ${JSON.stringify(odd)} sees another one's`);
    await store.close();
  });
  const code = await codeOf(attack, `the tenant ${JSON.stringify(odd.slice(0, 20))}`, opened);
  if (!["done", "INVALID_ARGUMENT"].includes(code)) attack.finding(`the tenant ${JSON.stringify(odd.slice(0, 20))}: ${code}`);
  attack.count("tenants");
}
