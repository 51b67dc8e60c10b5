// The script of a page that is encrypted with a password (page/locked-page.ts). It decrypts the page and replaces this document with it:
// the address stays, and so does a link to an entry in it.

import { element } from "./dom.js";

/** Parameters of the encryption, from the attributes of the data element. Salt and iv are base64. */
interface Lock {
  readonly salt: Uint8Array<ArrayBuffer>;
  readonly iv: Uint8Array<ArrayBuffer>;
  readonly rounds: number;
}

/** Trusted Types, which not every browser has and TypeScript does not know. */
declare const trustedTypes:
  | { createPolicy(name: string, rules: { createHTML(text: string): string }): { createHTML(text: string): string } }
  | undefined;

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

async function keyOf(password: string, { salt, rounds }: Lock): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey("raw", new TextEncoder().encode(password.normalize("NFKC")), "PBKDF2", false, [
    "deriveKey",
  ]);
  const rules = { name: "PBKDF2", hash: "SHA-256", salt, iterations: rounds };
  return crypto.subtle.deriveKey(rules, material, { name: "AES-GCM", length: 256 }, false, ["decrypt"]);
}

async function decryptPage(password: string, lock: Lock, data: Uint8Array<ArrayBuffer>): Promise<string> {
  const packed = await crypto.subtle.decrypt({ name: "AES-GCM", iv: lock.iv }, await keyOf(password, lock), data);
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

/** Replaces the document. Its policy stays in force, and that of the page comes on top of it. */
function showPage(text: string): void {
  const page =
    typeof trustedTypes === "undefined" ? text : trustedTypes.createPolicy("bough-locked", { createHTML: (html) => html }).createHTML(text);
  document.open();
  document.write(page);
  document.close();
}

const form = element("unlock");
const field = element("password");
const state = element("state");

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void unlock();
});
if (globalThis.crypto?.subtle === undefined)
  state.textContent = "This browser decrypts pages only from a file or over https. Save this page, and open the file.";

async function unlock(): Promise<void> {
  if (!(field instanceof HTMLInputElement) || field.disabled) return;
  const data = element("data");
  const { salt = "", iv = "", rounds = "0" } = data.dataset;
  field.disabled = true;
  state.textContent = "Decrypting …";
  let page: string;
  try {
    const lock = { salt: bytesOf(salt), iv: bytesOf(iv), rounds: Number(rounds) };
    page = await decryptPage(field.value, lock, bytesOf(data.textContent ?? ""));
  } catch {
    // AES-GCM fails in the same way for a wrong password and for changed data.
    state.textContent = "This is not the password, or the file is damaged.";
    field.disabled = false;
    field.select();
    return;
  }
  try {
    showPage(page);
  } catch (error) {
    state.textContent = `The password is right, but this browser cannot show the page: ${error instanceof Error ? error.message : String(error)}`;
  }
}
