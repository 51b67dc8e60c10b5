import { createHash, createHmac, pbkdf2Sync, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { createSecureContext, TLSSocket } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { parseServerUrl } from "../src/address.js";
import { openPool } from "../src/driver.js";

/** A key and a certificate for tests on loopback only. */
const PEM = readFileSync(new URL("localhost.pem", import.meta.url), "utf8");
const PASSWORD = "S3cr3t";
const BOUND = "SCRAM-SHA-256-PLUS";

const message = (type: string, body: Buffer) => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
};
const authentication = (code: number, data: Buffer | string = "") =>
  message("R", Buffer.concat([Buffer.from([0, 0, 0, code]), Buffer.from(data)]));
const OK = authentication(0);
const CLEARTEXT = authentication(3);
const MD5 = authentication(5, "salt");
const sasl = (...mechanisms: string[]) => authentication(10, `${mechanisms.join("\0")}\0\0`);
const READY = message("Z", Buffer.from("I"));

/** The messages of a server after the client's first one and after each that follows, made of what the client sent. */
type Script = readonly ((sent: string) => Buffer)[];

/** A server that speaks TLS and then follows a script. Returns the address of it, and all that clients sent. */
async function scriptedServer(script: Script) {
  const sent: string[] = [];
  const sockets: Socket[] = [];
  const serve = (raw: Socket) =>
    raw.once("data", () => {
      raw.write("S");
      const socket = new TLSSocket(raw, { isServer: true, secureContext: createSecureContext({ key: PEM, cert: PEM }) });
      let step = 0;
      socket
        .on("error", () => undefined)
        .on("data", (data) => {
          sent.push(data.toString("latin1"));
          socket.write(script[step++]?.(sent.at(-1) ?? "") ?? "");
        });
    });
  const server = createServer((raw) => {
    sockets.push(raw);
    serve(raw.on("error", () => undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { sent, url: `postgres://ada:${PASSWORD}@127.0.0.1:${port}/agents?channel_binding=require&connect_timeout=5` };
}

function openAt(url: string) {
  return openPool({ address: parseServerUrl(url, {}), tenant: "", connections: 1, waitMs: 5000, readOnly: false, durable: true });
}

const hmac = (key: Buffer, text: string) => createHmac("sha256", key).update(text).digest();

/** The two answers of a server that knows the password, as RFC 5802 and RFC 5929 (tls-server-end-point) have them. */
function knownPassword(): Script {
  const salt = Buffer.from("0123456789abcdef");
  let firstMessages = "";
  let nonce = "";
  return [
    (sent) => {
      const first = /n=[^,]*,r=([^,]*)$/.exec(sent);
      nonce = `${first?.[1]}server`;
      const answer = `r=${nonce},s=${salt.toString("base64")},i=4096`;
      firstMessages = `${first?.[0]},${answer}`;
      return authentication(11, answer);
    },
    () => {
      const end = createHash("sha256").update(new X509Certificate(PEM).raw).digest();
      const binding = Buffer.concat([Buffer.from("p=tls-server-end-point,,"), end]).toString("base64");
      const salted = pbkdf2Sync(PASSWORD, salt, 4096, 32, "sha256");
      const signature = hmac(hmac(salted, "Server Key"), `${firstMessages},c=${binding},r=${nonce}`);
      return Buffer.concat([authentication(12, `v=${signature.toString("base64")}`), OK, READY]);
    },
  ];
}

test("a server that proves with SCRAM-SHA-256-PLUS that it knows the password is used", async () => {
  const { url } = await scriptedServer([() => sasl(BOUND, "SCRAM-SHA-256"), ...knownPassword()]);
  const pool = await openAt(url);
  expect(pool.totalCount).toBe(1);
  await pool.end();
});

test.each<[string, Script]>([
  ["asks for the password", [() => CLEARTEXT]],
  ["asks for the MD5 of the password", [() => MD5]],
  ["offers to prove without the binding", [() => sasl("SCRAM-SHA-256")]],
  ["asks for nothing", [() => Buffer.concat([OK, READY])]],
  ["offers to prove, and then asks for the password", [() => sasl(BOUND), () => CLEARTEXT]],
  ["offers to prove, and then asks for the MD5 of the password", [() => sasl(BOUND), () => MD5]],
  ["offers to prove and asks for the password at once", [() => Buffer.concat([sasl(BOUND), CLEARTEXT])]],
  ["offers to prove, and then without the binding", [() => sasl(BOUND), () => sasl("SCRAM-SHA-256")]],
  ["offers to prove, and then asks for nothing", [() => sasl(BOUND), () => Buffer.concat([OK, READY])]],
  ["takes the client's proof and gives none", [() => sasl(BOUND), knownPassword()[0] ?? (() => OK), () => Buffer.concat([OK, READY])]],
])("a server that %s is refused, and gets no password", async (_, script) => {
  const { url, sent } = await scriptedServer(script);
  await expect(openAt(url)).rejects.toMatchObject({ code: "SERVER_LOGIN", message: expect.stringContaining("channel binding") });
  const md5 = createHash("md5").update(`${PASSWORD}ada`).digest("hex");
  const hash = createHash("md5").update(`${md5}salt`).digest("hex");
  expect(sent.filter((text) => text.includes(PASSWORD) || text.includes(hash))).toEqual([]);
});
