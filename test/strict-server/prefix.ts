// Prefixes of requests: to what a signature is bound, and what a prompt cache holds.
import { createHash, createHmac } from "node:crypto";

/** The prefix of a request, piece by piece. Equal pieces in the same order give the same `id`. */
export class Prefix {
  #id: string;
  #chars = 0;
  readonly #boundaries: Boundary[] = [];

  constructor(id = "") {
    this.#id = id;
  }

  get id(): string {
    return this.#id;
  }

  /** The prefixes after each piece, in order. */
  get boundaries(): readonly Boundary[] {
    return this.#boundaries;
  }

  add(...piece: readonly unknown[]): this {
    const text = canonical(piece);
    this.#id = createHash("sha256").update(this.#id).update("\0").update(text).digest("base64url").slice(0, 22);
    this.#chars += text.length;
    this.#boundaries.push({ id: this.#id, tokens: Math.ceil(this.#chars / 4) });
    return this;
  }
}

/** A prefix and its size. */
export interface Boundary {
  readonly id: string;
  readonly tokens: number;
}

/** JSON with the members of objects in alphabetical order: what a server sees after parsing. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

/** Holds every prefix that was sent, as a provider's prompt cache does until it expires. */
export class PromptCache {
  readonly #known = new Set<string>();

  /** The tokens of the longest known prefix, and the rest, which is written. */
  read(boundaries: readonly Boundary[]): { readonly read: number; readonly written: number } {
    const total = boundaries.at(-1)?.tokens ?? 0;
    const read = boundaries.findLast(({ id }) => this.#known.has(id))?.tokens ?? 0;
    for (const { id } of boundaries) this.#known.add(id);
    return { read, written: total - read };
  }

  /** The cache has expired. */
  clear(): void {
    this.#known.clear();
  }
}

/** A text that only this server can make, and that says what it was made for. */
export function seal(claims: Readonly<Record<string, unknown>>): string {
  const text = Buffer.from(JSON.stringify(claims)).toString("base64url");
  return `${text}.${mac(text)}`;
}

/** What a text was made for; undefined: this server did not make it, or it was changed. */
export function unseal(sealed: string): Readonly<Record<string, unknown>> | undefined {
  const [text = "", given] = sealed.split(".");
  return given === mac(text) ? (JSON.parse(Buffer.from(text, "base64url").toString()) as Record<string, unknown>) : undefined;
}

function mac(text: string): string {
  return createHmac("sha256", "strict").update(text).digest("base64url");
}
