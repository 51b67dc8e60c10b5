// Stores on a PostgreSQL server behind other people's programs: the contract through PgBouncer in transaction mode, and a failover to a synchronous
// streaming standby under writers. Needs Debian's packages: apt-get install postgresql pgbouncer
//   node test/real/postgres.mjs [--files packages/session-core/test/contract/sessions] [--failovers 3]
// Prints what was tried, and each finding. Exit code 1: findings.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { openStore, userMessage } from "@bough/session-core";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const { Client } = createRequire(join(ROOT, "packages/postgres/package.json"))("pg");

/** Servers refuse to run as root. */
const USER = "postgres";
const PASSWORD = "not-secret";
const WRITERS = 6;
/** What a pooler in transaction mode cannot pass on, a role has for itself (docs/postgres.md). */
const ROLE_SETTINGS = {
  search_path: "pg_catalog, pg_temp",
  lock_timeout: "'10s'",
  extra_float_digits: "1",
  array_nulls: "on",
  default_transaction_isolation: "'read committed'",
};
/** Tests of what a store does; the rest of the contract is of imports, whose rules do not lie in the engine. */
const CONTRACT = ["sessions", "tree", "session", "search", "context", "transfer", "statistics"].map(
  (name) => `packages/session-core/test/contract/${name}`,
);

/** Runs both, and returns what was tried and the findings. */
export async function postgres({ files = CONTRACT, failovers = 3 } = {}) {
  const binaries = serverBinaries();
  const home = mkdtempSync(join(tmpdir(), "bough-real-"));
  const [uid, gid] = ["-u", "-g"].map((flag) => Number(execFileSync("id", [flag, USER], { encoding: "utf8" })));
  chmodSync(home, 0o755);
  const world = {
    binaries,
    home,
    user: process.getuid?.() === 0 ? { uid, gid } : {},
    own: { uid, gid },
    ended: [],
    tried: [],
    findings: [],
  };
  try {
    await pooledContract(world, files);
    for (let at = 0; at < failovers; at++) await failover(world, at);
  } finally {
    for (const end of world.ended.toReversed()) await end();
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  }
  return { tried: world.tried, findings: world.findings };
}

/** The same as a suite of main.mjs. */
export const postgresSuite = {
  name: "postgres",
  title: "PgBouncer in transaction mode, and a failover under writers",

  async run() {
    const { tried, findings } = await postgres();
    return { version: `PostgreSQL ${serverBinaries().split("/").at(-2)}`, result: tried.join("; "), findings };
  },
};

function serverBinaries() {
  const folder = "/usr/lib/postgresql";
  const versions = existsSync(folder) ? readdirSync(folder).filter((name) => existsSync(join(folder, name, "bin/pg_basebackup"))) : [];
  const newest = versions.toSorted((one, other) => Number(other) - Number(one))[0];
  if (newest === undefined || spawnSync("pgbouncer", ["--version"]).status !== 0)
    throw new Error("PostgreSQL and PgBouncer are missing: apt-get install postgresql pgbouncer");
  return join(folder, newest, "bin");
}

/** The contract through PgBouncer: each transaction of a store can be on another connection of the server. */
async function pooledContract(world, files) {
  const server = await startServer(world, "pooled", ["max_connections=60"]);
  const statements = [
    `CREATE ROLE bough LOGIN PASSWORD '${PASSWORD}'`,
    "CREATE DATABASE bough OWNER bough",
    ...Object.entries(ROLE_SETTINGS).map(([name, value]) => `ALTER ROLE bough SET ${name} = ${value}`),
  ];
  for (const statement of statements) await run(server.url, statement);
  const port = await startPgBouncer(world, server.port);
  const url = `postgres://bough:${PASSWORD}@127.0.0.1:${port}/bough?prepare=false`;
  const started = spawn("npx", ["vitest", "run", "--project", "postgres-*", "--reporter=json", "--exclude", "**/postgres/**", ...files], {
    cwd: ROOT,
    env: { ...process.env, BOUGH_TEST_POSTGRES: url, BOUGH_TEST_POOLED: "1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  started.stdout.setEncoding("utf8").on("data", (text) => (out += text));
  await new Promise((resolve) => started.once("close", resolve));
  const report = JSON.parse(out.slice(out.indexOf("{")));
  const version = execFileSync("pgbouncer", ["--version"], { encoding: "utf8" }).split("\n")[0];
  world.tried.push(`${report.numPassedTests} of ${report.numTotalTests} tests of the contract pass through ${version} in transaction mode`);
  for (const { name, assertionResults } of report.testResults)
    for (const { status, fullName, failureMessages } of assertionResults)
      if (status === "failed")
        world.findings.push(`through PgBouncer: ${name.slice(ROOT.length)}: ${fullName}: ${failureMessages[0]?.split("\n")[0]}`);
}

async function startPgBouncer(world, serverPort) {
  const folder = join(world.home, "pgbouncer");
  makeOwn(world, folder);
  const port = await freePort();
  writeFileSync(join(folder, "users.txt"), `"bough" "${PASSWORD}"\n`);
  const settings = [
    "[databases]",
    `bough = host=127.0.0.1 port=${serverPort} dbname=bough`,
    "[pgbouncer]",
    ...["listen_addr = 127.0.0.1", `listen_port = ${port}`, "unix_socket_dir =", "pool_mode = transaction", "auth_type = scram-sha-256"],
    ...[
      `auth_file = ${folder}/users.txt`,
      "ignore_startup_parameters = options,extra_float_digits",
      "default_pool_size = 20",
      "max_client_conn = 500",
    ],
  ];
  writeFileSync(join(folder, "pgbouncer.ini"), `${settings.join("\n")}\n`);
  const pooler = spawn("pgbouncer", ["-q", join(folder, "pgbouncer.ini")], { ...world.user, stdio: ["ignore", "ignore", "inherit"] });
  world.ended.push(() => stopped(pooler, "SIGINT"));
  await until(() => canConnect(port));
  return port;
}

/** Writers append through an address that changes from the primary to the standby when the primary is killed. */
async function failover(world, at) {
  const primary = await startServer(world, `primary${at}`, ["wal_level=replica", "max_wal_senders=5", "hot_standby=on"]);
  await run(primary.url, "CREATE DATABASE bough");
  const standby = await startStandby(world, at, primary);
  await run(primary.url, "ALTER SYSTEM SET synchronous_standby_names = '*'");
  await run(primary.url, "SELECT pg_reload_conf()");
  await until(async () => (await run(primary.url, "SELECT sync_state FROM pg_stat_replication"))[0]?.sync_state === "sync");
  const address = await startAddress(world, primary.port);
  const url = `postgres://postgres:${PASSWORD}@127.0.0.1:${address.port}/bough`;
  const state = { isOver: false, acknowledged: new Map(), lost: 0, codes: new Map() };
  await (await openStore({ url })).close();
  const writers = Array.from({ length: WRITERS }, (_, number) => write(url, number, state));
  await until(() => state.acknowledged.size >= 300);
  primary.process.kill("SIGKILL");
  await stopped(primary.process, "SIGKILL");
  address.drop();
  await run(standby.url, "SELECT pg_promote(true, 60)");
  await run(standby.url, "ALTER SYSTEM SET synchronous_standby_names = ''");
  await run(standby.url, "SELECT pg_reload_conf()");
  address.target = standby.port;
  const before = state.acknowledged.size;
  await until(() => state.acknowledged.size >= before + 300);
  state.isOver = true;
  await Promise.all(writers);
  const { findings, stored } = await compare(`postgres://postgres:${PASSWORD}@127.0.0.1:${standby.port}/bough`, state);
  world.findings.push(...findings.map((text) => `failover ${at + 1}: ${text}`));
  const errors = [...state.codes].map(([code, times]) => `${times} ${code}`).join(", ");
  const counts = `${state.acknowledged.size} acknowledged, ${stored} stored by ${WRITERS} writers, ${before} before the primary was killed`;
  world.tried.push(`failover ${at + 1}: ${counts}; ${errors === "" ? "no error reached a writer" : errors}`);
}

/** Appends with ids until it is over. What a writer is told about a lost connection, it does: it repeats the operation with the same ids. */
async function write(url, number, state) {
  const id = `writer${number}`;
  const attempt = async (work) => {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        state.codes.set(error.code ?? error.message, (state.codes.get(error.code ?? error.message) ?? 0) + 1);
        if (typeof error.code !== "string" || !/^(CONNECTION_LOST|SERVER_UNAVAILABLE|STORE_BUSY|STORE_READ_ONLY)$/.test(error.code))
          throw error;
        await sleep(50);
      }
    }
  };
  const store = await attempt(() => openStore({ url, connections: 2, busyTimeoutMs: 3000 }));
  const session = await attempt(() => store.openOrCreateSession(id));
  for (let count = 0; !state.isOver; count++) {
    const entries = Array.from({ length: count % 5 === 0 ? 3 : 1 }, (_, part) => ({
      ...userMessage(`${id} ${count} ${part}`),
      id: `${number}-${count}-${part}`,
    }));
    const writes = entries.map((entry) => ({ kind: "entry", entry }));
    await attempt(() =>
      entries.length === 1 ? session.append(entries[0]) : session.write([...writes, { kind: "value", key: "at", value: count }]),
    );
    for (const entry of entries) state.acknowledged.set(entry.id, id);
  }
  await attempt(() => store.close());
}

/** Each acknowledged entry is stored once, on one line, and the store holds by its own rules. */
async function compare(url, { acknowledged }) {
  const findings = [];
  const store = await openStore({ url });
  let stored = 0;
  for (let number = 0; number < WRITERS; number++) {
    const session = await store.openSession(`writer${number}`);
    const ids = (await session.path()).map(({ id }) => id);
    const all = [...acknowledged].filter(([, of]) => of === session.id).map(([id]) => id);
    stored += ids.length;
    const lost = all.filter((id) => !ids.includes(id));
    if (lost.length > 0) findings.push(`${session.id}: ${lost.length} acknowledged entries are lost: ${lost.slice(0, 3).join(", ")}`);
    if (ids.length !== all.length) findings.push(`${session.id}: ${ids.length} entries on the path, ${all.length} were acknowledged`);
    const texts = new Set((await session.context()).messages.map((message) => JSON.stringify(message)));
    if (texts.size !== ids.length) findings.push(`${session.id}: ${ids.length - texts.size} entries are doubled`);
  }
  for await (const violation of store.verify()) findings.push(`verify: ${JSON.stringify(violation)}`);
  await store.close();
  return { findings, stored };
}

async function startServer(world, name, settings) {
  const folder = join(world.home, name);
  makeOwn(world, folder);
  const password = join(folder, "password");
  writeFileSync(password, PASSWORD);
  chownSync(password, world.own.uid, world.own.gid);
  const about = ["--username=postgres", "--auth=scram-sha-256", `--pwfile=${password}`, "--encoding=UTF8", "--locale=C"];
  execFileSync(join(world.binaries, "initdb"), [`--pgdata=${folder}/data`, ...about], {
    ...world.user,
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  return launch(world, folder, settings);
}

async function startStandby(world, at, primary) {
  const folder = join(world.home, `standby${at}`);
  makeOwn(world, folder);
  const from = `host=127.0.0.1 port=${primary.port} user=postgres password=${PASSWORD}`;
  execFileSync(join(world.binaries, "pg_basebackup"), ["-d", from, "-D", `${folder}/data`, "-R", "-X", "stream"], {
    ...world.user,
    cwd: folder,
    stdio: "inherit",
  });
  return launch(world, folder, ["hot_standby=on"]);
}

async function launch(world, folder, settings) {
  const port = await freePort();
  const own = [`port=${port}`, "listen_addresses=127.0.0.1", "unix_socket_directories=", "logging_collector=off", ...settings];
  const server = spawn(join(world.binaries, "postgres"), ["-D", `${folder}/data`, ...own.flatMap((setting) => ["-c", setting])], {
    ...world.user,
    cwd: folder,
    stdio: "ignore",
  });
  world.ended.push(() => stopped(server, "SIGQUIT"));
  const url = `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`;
  await until(async () => (await run(url, "SELECT 1").catch(() => [])).length === 1);
  return { port, url, process: server };
}

/** An address that passes connections on to a server that can change. */
async function startAddress(world, target) {
  const sockets = new Set();
  const drop = () => {
    for (const socket of sockets) socket.destroy();
  };
  const address = { target, port: 0, drop };
  const proxy = createServer((from) => {
    const to = connect(address.target, "127.0.0.1");
    forward(from, to, sockets);
    forward(to, from, sockets);
  });
  await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  address.port = proxy.address().port;
  world.ended.push(async () => {
    drop();
    await new Promise((resolve) => proxy.close(resolve));
  });
  return address;
}

/** Passes on what one socket receives, and ends the other one with it. */
function forward(one, other, sockets) {
  sockets.add(one);
  one.on("error", () => other.destroy());
  one.on("close", () => {
    sockets.delete(one);
    other.destroy();
  });
  one.pipe(other);
}

function makeOwn({ own }, folder) {
  mkdirSync(folder, { mode: 0o700 });
  if (process.getuid?.() === 0) chownSync(folder, own.uid, own.gid);
}

async function stopped(child, signal) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  await ended;
}

async function until(holds) {
  const last = Date.now() + 120_000;
  while (!(await holds())) {
    if (Date.now() > last) throw new Error(`Waited two minutes in vain for ${holds}`);
    await sleep(50);
  }
}

function canConnect(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    }).on("error", () => resolve(false));
  });
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function run(url, statement) {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { values } = parseArgs({ options: { files: { type: "string" }, failovers: { type: "string", default: "3" } } });
  const { tried, findings } = await postgres({ files: values.files?.split(",") ?? CONTRACT, failovers: Number(values.failovers) });
  for (const line of tried) process.stdout.write(`${line}\n`);
  for (const finding of findings) process.stdout.write(`  ${finding}\n`);
  process.stdout.write(`${findings.length} findings\n`);
  process.exitCode = findings.length > 0 ? 1 : 0;
}
