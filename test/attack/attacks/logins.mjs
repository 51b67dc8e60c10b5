// A server that wants the password. With settings that forbid it, nothing from which the password can be read or guessed may arrive there, whatever the
// server says about encryption and however it asks.
import { createHash } from "node:crypto";
import { createServer } from "node:net";
import { BoughError, openStore } from "@bough/session-core";

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
/** Each forbids a password over a connection that is not encrypted. */
const SETTINGS = [
  "channel_binding=require",
  "sslmode=require",
  "sslmode=verify-ca",
  "sslmode=verify-full",
  "sslmode=require&channel_binding=require",
];
const SALT = "salt";

const message = (type, body) => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
};
const authentication = (code, data = "") => message("R", Buffer.concat([Buffer.from([0, 0, 0, code]), Buffer.from(data)]));
const ASKS = {
  "the password": [authentication(3)],
  "its MD5": [authentication(5, SALT)],
  "SCRAM without binding": [authentication(10, "SCRAM-SHA-256\0\0")],
  "SCRAM, then the password": [authentication(10, "SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0"), authentication(3)],
  "nothing, then its MD5": [Buffer.concat([authentication(0), message("Z", Buffer.from("I"))]), authentication(5, SALT)],
};
/** The answers to the question for encryption: no, an old server's error, nonsense, and nothing. */
const REFUSALS = ["N", "E", "X", "NR", ""];

export async function logins(attack) {
  // Without a setting that forbids it the password is sent, as libpq does: the attack would see it.
  const control = await login(attack, "sslmode=disable", [authentication(3)]);
  if (control.leaked === undefined) attack.finding(`the password of a connection that is not protected was not seen: ${control.code}`);
  while (attack.hasTime()) {
    const [settings, ask, refusal] = [attack.random.pick(SETTINGS), attack.random.pick(Object.keys(ASKS)), attack.random.pick(REFUSALS)];
    const where = `${settings}, refusal ${JSON.stringify(refusal)}, asks for ${ask}`;
    const { code, leaked } = await login(attack, settings, [refusal, ...ASKS[ask]], where);
    if (leaked !== undefined) attack.finding(`${where}: the server got ${leaked}`);
    attack.count(code);
    attack.count("logins");
  }
}

/** Tries to open a store on a server that gives these answers, one to each piece that it receives. */
async function login(attack, settings, script, where = settings) {
  const password = Array.from({ length: 14 }, () => LETTERS[attack.random.below(LETTERS.length)]).join("");
  const server = await listeningServer(script);
  let code = "opened";
  try {
    const store = await openStore({ url: `postgres://ada:${password}@127.0.0.1:${server.port}/agents?${settings}&connect_timeout=2` });
    attack.finding(`${where}: opened`);
    await store.close();
  } catch (error) {
    if (!(error instanceof BoughError)) attack.finding(`${where}: ${error.stack}`);
    if (String(error?.stack).includes(password)) attack.finding(`${where}: the error has the password`);
    code = error.code;
  }
  const received = server.received().toString("latin1");
  await server.close();
  const inner = createHash("md5").update(`${password}ada`).digest("hex");
  const told = [password, createHash("md5").update(`${inner}${SALT}`).digest("hex"), "n,,n="];
  return { code, leaked: told.some((text) => received.includes(text)) ? JSON.stringify(received.slice(0, 300)) : undefined };
}

/** A server that goes on as if the client had agreed, and ends the connection where it has no answer. */
async function listeningServer(script) {
  const pieces = [];
  const sockets = new Set();
  const server = createServer((socket) => {
    sockets.add(socket);
    const answers = [...script];
    socket
      .on("error", () => undefined)
      .on("data", (data) => {
        pieces.push(data);
        const answer = answers.shift() ?? "";
        if (!socket.writable) return;
        if (answer.length > 0) socket.write(answer);
        else socket.end();
      });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: server.address().port,
    received: () => Buffer.concat(pieces),
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(resolve);
      }),
  };
}
