import { join } from "node:path";
import { exportBough, exportClaude, exportCodex, exportMarkdown, exportOpencode, exportPi } from "@bough/formats";
import { findSecrets, SessionMasks } from "@bough/formats/secrets";
import { assistantMessage, openStore, toolResult, userMessage } from "@bough/session-core";
import { startMcp } from "../mcp-client.mjs";

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const WORD = `${LETTERS}0123456789`;
const HEX = "0123456789abcdef";
const EXPORTS = { exportBough, exportClaude, exportCodex, exportMarkdown, exportOpencode, exportPi };

/** Texts as programs print them, with a random secret each. */
const SHAPES = [
  (make) => [make(WORD, 24), (s) => `my config:\n  db_password: ${s}\n  host: x`],
  (make) => [make(WORD, 40), (s) => `see\naws_secret_access_key = ${s}\nok`],
  (make) => [make(WORD, 20), (s) => `SECRET_KEY_BASE: ${s}\nwhat is this?`],
  (make) => [make(WORD, 14), (s) => `machine h\n  login u\n  password ${s}`],
  (make) => [make(WORD, 32), (s) => `curl -H "X-API-Key: ${s}" https://a.example`],
  (make) => [make(WORD, 20), (s) => `{"name":"DB_PASSWORD","value":"${s}"}`],
  (make) => [make(WORD, 20), (s) => `docker login -u me -p ${s} registry.example`],
  (make) => [make(WORD, 14), (s) => `<password>${s}</password>`],
  (make) => [make(WORD, 14), (s) => `<add key="ApiKey" value="${s}"/>`],
  (make) => [make(WORD, 14), (s) => `db.internal:5432:app:ada:${s}`],
  (make) => [make(WORD, 14), (s) => `Server=db;Uid=sa;Pwd=${s};`],
  (make) => [make(WORD, 20), (s) => `Config{Token: "${s}"}`],
  (make) => [make(LETTERS, 12), (s) => `[smtp]\npassword = ${s}\nhost = mail.internal`],
  (make) => [make(LETTERS, 12), (s) => `db:\n  host: db.internal\n  password: ${s}`],
  (make) => [make(WORD, 30), (s) => `HOME=/root\nSTRIPE_KEY=${s}\nPATH=/bin`],
  (make) => [make(HEX, 40), (s) => `SENTRY_AUTH=${s}\nLANG=C`],
  (make) => [`$6$${make(WORD, 8)}$${make(WORD, 86)}`, (s) => `root:${s}:19000:0:99999:7:::`],
  (make) => [make(WORD, 12), (s) => `echo ${s} | sudo -S apt update`],
  (make) => [`ghp_${make(WORD, 36)}`, (s) => `the token is ${s} there`],
  (make) => [`glpat-${make(WORD, 20)}`, (s) => `_${s}_`],
];

/** Secrets of the shapes that programs print: each place of a session, each export, titles, labels, a list, and the MCP server. */
export async function secrets(attack) {
  for (let round = 0; attack.hasTime(); round += 1) {
    const path = join(attack.folder, `${round}.db`);
    const store = await openStore({ path });
    const made = [];
    for (const [at, shape] of SHAPES.entries()) made.push(await hide(attack, store, shape, at));
    const masks = new SessionMasks();
    for (const { session, secret } of made) {
      await inspectExports(attack, session, secret);
      const { title, firstText } = await session.record();
      const listed = await masks.maskTitle(title ?? firstText ?? "", async () => session);
      if (listed.includes(secret)) attack.finding(`round ${round}: the title ${listed} in a list has ${secret}`);
    }
    await store.close();
    await askServer(attack, path, made);
  }
}

/** A session with a secret in all its places. */
async function hide(attack, store, shape, at) {
  const make = (alphabet, length) => Array.from({ length }, () => alphabet[attack.random.below(alphabet.length)]).join("");
  const [secret, text] = withDigit(shape, make);
  const shown = text(secret);
  if (findSecrets(shown).length === 0) attack.finding(`not found: ${shown}`);
  const session = await store.createSession({ id: `s${at}`, ...(at % 2 === 0 ? { title: shown } : {}) });
  const asked = await session.append(userMessage(shown));
  await session.append(assistantMessage([{ type: "toolCall", id: "c", name: "bash", arguments: { command: shown } }]));
  await session.append(toolResult("c", `output\n${shown}`));
  await session.labels.set(asked.id, shown.slice(0, 100).replaceAll("\n", " "));
  attack.count("secrets");
  return { session, secret };
}

async function inspectExports(attack, session, secret) {
  for (const [name, exported] of Object.entries(EXPORTS)) {
    let text = "";
    for await (const piece of exported(session)) text += piece;
    if (text.replaceAll("\\", "").includes(secret)) attack.finding(`${name} of ${session.id} has ${secret}`);
    attack.count("exports");
  }
}

/** A rule asks for a digit where a word without one is more often prose. */
function withDigit(shape, make) {
  const [secret, text] = shape(make);
  return [/\d/.test(secret) || /^[A-Za-z]{12}$/.test(secret) ? secret : `${secret.slice(0, -1)}7`, text];
}

/** Each tool of `bough mcp` for each session, and a message that is too long. */
async function askServer(attack, path, made) {
  const { ask, close } = await startMcp(path, attack.folder);
  const long = await ask("tools/call", { name: "list_sessions", arguments: { cwd: "x".repeat(12_000_000) } });
  if (!long.includes("was not read")) attack.finding(`a message of 12 MB is answered with ${long.slice(0, 200)}`);
  for (const { session, secret } of made) {
    const entries = (await readIds(path, session.id)).slice(0, 5);
    const calls = [
      ["read_path", { session: session.id }],
      ["read_entries", { session: session.id, entries }],
      ["get_tree", { session: session.id }],
      ["files_touched", { session: session.id }],
      ["search_sessions", { query: "output", session: session.id }],
      ["list_sessions", {}],
      ["who_wrote", { path }],
    ];
    for (const [name, args] of calls) {
      const answer = await ask("tools/call", { name, arguments: args });
      if (answer.replaceAll("\\", "").includes(secret)) attack.finding(`${name} for ${session.id} has ${secret}`);
      attack.count("answers");
    }
  }
  await close();
}

async function readIds(path, sessionId) {
  const store = await openStore({ path, mode: "read-only" });
  const ids = [];
  for await (const { id } of (await store.openSession(sessionId)).entries()) ids.push(id);
  await store.close();
  return ids;
}
