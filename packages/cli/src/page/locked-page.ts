import { createCipheriv, pbkdf2, randomBytes } from "node:crypto";
import { pipeline, Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { promisify } from "node:util";
import { createGzip } from "node:zlib";
import { UsageError } from "../errors.js";
import { PASSWORD_VARIABLE } from "../terminal/child-environment.js";
import type { Io } from "../terminal/io.js";
import { lockedEnd, lockedStart } from "./document.js";

/** Iterations of PBKDF2 with SHA-256, as OWASP recommends them (Password Storage Cheat Sheet, 2023). */
const ROUNDS = 600_000;

/** Shorter passwords are guessed in days, whatever the rounds. */
const SHORTEST = 8;

/**
 * Encrypts a page: a document that asks for the password and decrypts the page in the browser. The page is compressed (gzip) and encrypted
 * with AES-256-GCM by a key from PBKDF2; nothing of it, not even its title, is readable without the password.
 */
export async function* lockedPage(pieces: AsyncIterable<string>, password: string): AsyncGenerator<string, void, void> {
  const [salt, iv] = [randomBytes(16), randomBytes(12)];
  const key = await promisify(pbkdf2)(password.normalize("NFKC"), salt, ROUNDS, 32, "sha256");
  yield lockedStart({ salt: salt.toString("base64"), iv: iv.toString("base64"), rounds: ROUNDS }).text;
  yield* base64(encrypted(pieces, key, iv));
  yield lockedEnd().text;
}

async function* encrypted(pieces: AsyncIterable<string>, key: Buffer, iv: Buffer): AsyncGenerator<Buffer, void, void> {
  const cipher = createCipheriv("aes-256-gcm", key, iv);
  // Unlike `pipe`, it passes an error of the page on, which the loop throws.
  const packed = pipeline(Readable.from(pieces, { objectMode: false }), createGzip({ level: 9 }), () => undefined);
  for await (const piece of packed) yield cipher.update(piece);
  yield cipher.final();
  // WebCrypto expects the tag behind the data.
  yield cipher.getAuthTag();
}

async function* base64(chunks: AsyncIterable<Buffer>): AsyncGenerator<string, void, void> {
  const decoder = new StringDecoder("base64");
  for await (const chunk of chunks) yield decoder.write(chunk);
  yield decoder.end();
}

/**
 * Reads the password of a page: from the environment, or twice from the terminal, where it is not shown.
 *
 * @throws {UsageError} it is too short, the two differ, or there is no terminal.
 */
export async function readPagePassword(io: Io): Promise<string> {
  const given = io.env[PASSWORD_VARIABLE] ?? (await askTwice(io));
  if (given.length >= SHORTEST) return given;
  throw new UsageError(
    `The password is shorter than ${SHORTEST} characters. Choose a longer one: whoever has the page can try passwords without limit.`,
  );
}

async function askTwice({ askSecret }: Io): Promise<string> {
  if (askSecret === undefined)
    throw new UsageError(`--password asks for the password, which needs a terminal. Set ${PASSWORD_VARIABLE} instead.`);
  const first = (await askSecret("Password of the page: ")) ?? "";
  if (first.length >= SHORTEST && (await askSecret("The same again: ")) !== first)
    throw new UsageError("The two passwords differ. Nothing was written.");
  return first;
}
