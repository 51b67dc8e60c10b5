import { createCipheriv, pbkdf2Sync, randomBytes } from "node:crypto";
import { type OpenSqlite, openSqlite, openWithCiphers } from "./driver.js";

// The format of SQLite3MultipleCiphers' cipher `chacha20` (sqleet): https://utelle.github.io/SQLite3MultipleCiphers/docs/ciphers/cipher_chacha20/
// The first 16 bytes of the file are the salt of the key; bytes 16 to 23 are those of any SQLite file, and say how long a page is. The
// rest of each page is encrypted with ChaCha20. Its last 32 bytes are a nonce and a tag of Poly1305.

const SALT_BYTES = 16;
const KEY_BYTES = 32;
const NONCE_BYTES = 16;
const RESERVED_BYTES = 32;
const PLAIN_BYTES = 24;
const BLOCK_BYTES = 64;
const PAGE_SIZE_OFFSET = 16;
/** The cipher's own derivation, so that every program with SQLite3MultipleCiphers can open the file with the same text. */
const ITERATIONS = 64_007;

const MAGIC = "SQLite format 3\0";

/** The reserved bytes at the end of each page, and three constants of SQLite. */
const MARK_OFFSET = 20;
const MARK = Buffer.from([RESERVED_BYTES, 64, 32, 32]);

/** True if these are the first bytes of a locked file. Those of another program can be, too. */
export function looksLocked(start: Buffer): boolean {
  if (start.length < PLAIN_BYTES || start.toString("latin1", 0, MAGIC.length) === MAGIC) return false;
  const pageBytes = pageBytesOf(start);
  return (
    start.subarray(MARK_OFFSET, PLAIN_BYTES).equals(MARK) && pageBytes >= 512 && pageBytes <= 65_536 && (pageBytes & (pageBytes - 1)) === 0
  );
}

/** The length of a page, by the first bytes of a file. */
export function pageBytesOf(start: Buffer): number {
  const bytes = start.readUInt16BE(PAGE_SIZE_OFFSET);
  return bytes === 1 ? 65_536 : bytes;
}

/** Keys that this process has derived, by key and salt: a store is opened by several connections. */
const derived = new Map<string, Buffer>();
const MOST_DERIVED = 16;

function derive(key: string, salt: Buffer): Buffer {
  const name = `${salt.toString("hex")} ${key}`;
  const known = derived.get(name) ?? pbkdf2Sync(key, salt, ITERATIONS, KEY_BYTES, "sha256");
  if (derived.size >= MOST_DERIVED) derived.clear();
  derived.set(name, known);
  return known;
}

/** The lock of one file: its salt, and the key that was derived with it, which takes about 15 ms. */
export class StoreLock {
  readonly #salt: Buffer;
  readonly #key: Buffer;

  private constructor(salt: Buffer, key: Buffer) {
    this.#salt = salt;
    this.#key = key;
  }

  /** The lock of a new file. */
  static create(key: string): StoreLock {
    const salt = randomBytes(SALT_BYTES);
    return new StoreLock(salt, derive(key, salt));
  }

  /** The lock of a file that starts with these bytes, if the key is its key. */
  static of(key: string, start: Buffer): StoreLock {
    const salt = Buffer.from(start.subarray(0, SALT_BYTES));
    return new StoreLock(salt, derive(key, salt));
  }

  /** The derived key and the salt, in the form that the cipher takes. */
  get rawKey(): Buffer {
    return Buffer.concat([Buffer.from("raw:"), this.#key, this.#salt]);
  }

  /** Opens connections to the file. */
  readonly open: OpenSqlite = (file, options) => openWithCiphers(this.rawKey, file, options);

  /**
   * Decrypts the header of a file: the first `length` bytes of its first page. Does not check the tag of the page; with a key that does
   * not fit, the result is noise.
   */
  decryptHeader(page: Buffer, length: number): Buffer {
    const nonce = page.subarray(page.length - RESERVED_BYTES, page.length - RESERVED_BYTES + NONCE_BYTES);
    // The number of the page is 1.
    const counter = nonce.readUInt32LE(NONCE_BYTES - 4) ^ 1;
    const pageKey = keyStream(this.#key, nonce, counter).subarray(BLOCK_BYTES - KEY_BYTES);
    const header = Buffer.from(page.subarray(0, length));
    for (let at = PLAIN_BYTES, block = 1; at < length; at += BLOCK_BYTES, block += 1) {
      const stream = keyStream(pageKey, nonce, counter + block);
      for (let i = 0; i < BLOCK_BYTES && at + i < length; i += 1) header[at + i] = (header[at + i] ?? 0) ^ (stream[i] ?? 0);
    }
    header.write(MAGIC, 0, "latin1");
    return header;
  }
}

/** One block of the key stream of ChaCha20. The counter wraps at 32 bits, which Node's cipher does not do within one call. */
function keyStream(key: Buffer, nonce: Buffer, counter: number): Buffer {
  const iv = Buffer.alloc(16);
  iv.writeUInt32LE(counter >>> 0, 0);
  nonce.copy(iv, 4, 0, 12);
  return createCipheriv("chacha20", key, iv).update(Buffer.alloc(BLOCK_BYTES));
}

/** Opens connections to a file that is locked with `lock`, or not locked. */
export function openerOf(lock: StoreLock | undefined): OpenSqlite {
  return lock === undefined ? openSqlite : lock.open;
}
