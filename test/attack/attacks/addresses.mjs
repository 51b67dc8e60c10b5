// Addresses of servers that are almost right: as variables, files and other programs leave them. None is taken for a file, and no password is printed or
// lands in the name of one.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const BOUGH = fileURLToPath(new URL("../../../packages/cli/dist/bough.js", import.meta.url));
const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/** Signs that a password may have, and that an address may not. */
const SIGNS = ["", "@", ":", "/", "?", "#", "%", "%40", " ", "\n", "&", "'", '"', "\\", "[", "é"];

/** Port 1 has no server. */
const SHAPES = [
  (password) => `postgres://u:${password}@127.0.0.1:1/db`,
  (password) => `"postgres://u:${password}@127.0.0.1:1/db"`,
  (password) => `'postgres://u:${password}@127.0.0.1:1/db'`,
  (password) => ` postgres://u:${password}@127.0.0.1:1/db`,
  (password) => `postgres:/u:${password}@127.0.0.1:1/db`,
  (password) => `postgresq://u:${password}@127.0.0.1:1/db`,
  (password) => `POSTGRESQL://u:${password}@127.0.0.1:1/db`,
  (password) => `jdbc:postgresql://127.0.0.1:1/db?password=${password}`,
  (password) => `host=127.0.0.1 port=1 password=${password}`,
  (password) => `postgres+ssl://u:${password}@127.0.0.1:1/db`,
  (password) => `mysql://u:${password}@127.0.0.1/db`,
  (password) => `postgres://u@127.0.0.1:1/db?sslpassword=${password}`,
  (password) => `postgres://u:${password}@127.0.0.1:99999/db`,
  (password) => `BOUGH_STORE=postgres://u:${password}@127.0.0.1:1/db`,
];

const COMMANDS = [["sessions"], ["sessions", "--json"], ["verify"], ["import", "."], ["search", "x"]];

export async function addresses(attack) {
  for (let round = 0; attack.hasTime(); round += 1) {
    const home = join(attack.folder, String(round));
    mkdirSync(home);
    const word = Array.from({ length: 12 }, () => LETTERS[attack.random.below(LETTERS.length)]).join("");
    const address = attack.random.pick(SHAPES)(`${word}${attack.random.pick(SIGNS)}${word}`);
    const args = attack.random.pick(COMMANDS);
    const isOption = attack.random.below(2) === 0;
    const { status, stdout, stderr } = spawnSync(process.execPath, [BOUGH, ...args, ...(isOption ? ["--store", address] : [])], {
      cwd: home,
      env: { PATH: process.env.PATH, HOME: home, PGCONNECT_TIMEOUT: "2", ...(isOption ? {} : { BOUGH_STORE: address }) },
      encoding: "utf8",
      timeout: 60_000,
    });
    const where = `${JSON.stringify(address)} ${args.join(" ")}`;
    if (`${stdout}${stderr}`.includes(word)) attack.finding(`${where}: the password is printed: ${`${stdout}${stderr}`.slice(0, 200)}`);
    if (status === 0) attack.finding(`${where}: it was taken for something`);
    if (/unexpected/.test(stderr)) attack.finding(`${where}: ${stderr.slice(0, 200)}`);
    const made = readdirSync(home, { recursive: true }).filter((name) => name.includes(word));
    if (made.length > 0) attack.finding(`${where}: made ${made.join(", ")}`);
    attack.count("commands");
  }
}
