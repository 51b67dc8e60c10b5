import type { Entry } from "../entry/entry.js";
import { isPlainObject } from "../entry/json.js";
import { pairStart } from "../text/cut.js";
import { findEnvValues, showsEnvFile, usesEnvFile } from "./env-files.js";
import { findSecrets, isStandIn, mergeOverlaps } from "./find-secrets.js";
import { replaceSecrets, SecretMasker } from "./mask-secrets.js";
import { kindByName } from "./place-rules.js";
import type { FoundSecret, SecretCount } from "./secret.js";

/** A place of a secret in a session. */
export interface SecretPlace {
  readonly kind: string;
  /** Such as `[GitHub token 1]`: the same for each place of the same secret. */
  readonly mask: string;
  /** The line around it, cut, without any secret. */
  readonly context: string;
}

// The text before and after a secret that is its context, in UTF-16 code units.
const CHARS_BEFORE = 32;
const CHARS_AFTER = 60;

/**
 * Masks the secrets of one session: in texts, arguments, results, labels, titles and other values. Beyond what `findSecrets` finds
 * it masks members that are named as secrets, values of `.env` files that a call read or wrote, and each further occurrence of a
 * long secret that it has learned. If all entries of the session are learned first, in their order of arrival, then a secret has
 * the same number in every export of the session.
 *
 * @example
 * const masker = new SessionMasker();
 * for await (const entry of session.entries()) masker.learn(entry);
 * for await (const entry of session.walk({ leafId })) write(masker.maskEntry(entry));
 */
export class SessionMasker {
  readonly #masker = new SecretMasker();
  /** Ids of calls whose results show a file of environment variables. */
  readonly #envCalls = new Set<string>();
  /** Learned secrets that are long enough to be recognized anywhere, with their kind. */
  readonly #known = new Map<string, string>();
  /** The masks that were written, with their kind. */
  readonly #written = new Map<string, string>();
  readonly #seen = new Map<string, string>();
  /** All learned secrets on one line, as previews show them, with their kind. */
  readonly #lines = new Map<string, { readonly secret: string; readonly kind: string }>();
  /** `seq` of the learned entries in which no rule found anything: only secrets learned elsewhere are looked for in them again. */
  readonly #clean = new Set<number>();

  /** Remembers the secrets of an entry. */
  learn(entry: Entry): void {
    const isEnv = this.#showsEnvFile(entry);
    let isClean = true;
    mapTexts(entry, (text, name) => {
      for (const { start, end, kind } of this.#find(text, name, isEnv)) {
        isClean = false;
        this.#remember(text.slice(start, end), kind);
      }
      return text;
    });
    if (isClean) this.#clean.add(entry.seq);
  }

  /** The entry without its secrets; itself if it has none. `onPlace` gets each place of a secret. */
  maskEntry(entry: Entry, onPlace?: (place: SecretPlace) => void): Entry {
    if (!this.#clean.has(entry.seq)) {
      const isEnv = this.#showsEnvFile(entry);
      return mapTexts(entry, (text, name) => this.#mask(text, this.#find(text, name, isEnv), name, onPlace));
    }
    if (this.#lines.size === 0) return entry;
    return mapTexts(entry, (text, name) => this.#mask(text, this.#findKnown(text), name, onPlace));
  }

  /** A title, a label, a header or another JSON value without its secrets. */
  maskValue<T>(value: T, onPlace?: (place: SecretPlace) => void): T {
    return mapTexts(value, (text, name) => this.#mask(text, this.#find(text, name, false), name, onPlace));
  }

  /** Notes which masks a piece of the document shows: an export can leave out the texts that have the others. */
  see(piece: string): void {
    for (const [mask, kind] of this.#written) {
      const words = mask.slice(1, -1);
      if (!this.#seen.has(mask) && (piece.includes(`${words}]`) || piece.includes(`${words}\\]`))) this.#seen.set(mask, kind);
    }
  }

  /** How many different secrets of each kind were masked. */
  counts(): readonly SecretCount[] {
    return countKinds(this.#written.values());
  }

  /** How many different secrets of each kind are masked in the pieces that it has seen. */
  seenCounts(): readonly SecretCount[] {
    return countKinds(this.#seen.values());
  }

  #showsEnvFile(entry: Entry): boolean {
    if (entry.type !== "message") return false;
    const { message } = entry;
    if (message.role === "toolResult") return this.#envCalls.has(message.toolCallId);
    if (message.role !== "assistant") return showsEnvFile(message);
    const calls = message.content.filter((block) => block.type === "toolCall").filter(usesEnvFile);
    for (const { id } of calls) this.#envCalls.add(id);
    return calls.length > 0;
  }

  #find(text: string, name: string, isEnv: boolean): readonly FoundSecret[] {
    if (text.length < MIN_SECRET_CHARS || isEncodedData(text)) return [];
    const kind = kindByName(name);
    if (kind !== undefined && !isStandIn(text)) return [{ start: 0, end: text.length, kind }];
    const found = findSecrets(text);
    const others = [...(isEnv ? findEnvValues(text) : []), ...this.#findKnown(text)];
    return others.length === 0 ? found : mergeOverlaps([...found, ...others]);
  }

  #findKnown(text: string): readonly FoundSecret[] {
    const found: FoundSecret[] = [];
    for (const [secret, kind] of this.#known) {
      for (let start = text.indexOf(secret); start >= 0; start = text.indexOf(secret, start + secret.length))
        found.push({ start, end: start + secret.length, kind });
    }
    return found;
  }

  /** The learned secret in which a title or a preview was cut: no rule recognizes a part of it. */
  #findCut(text: string): { readonly start: number; readonly secret: string; readonly kind: string } | undefined {
    if (!text.endsWith("…") || text.length > MAX_CUT_CHARS) return undefined;
    const rest = text.slice(0, -1);
    for (const [line, { secret, kind }] of this.#lines) {
      for (let length = Math.min(line.length, rest.length); length >= MIN_CUT_CHARS; length -= 1)
        if (rest.endsWith(line.slice(0, length))) return { start: rest.length - length, secret, kind };
    }
    return undefined;
  }

  #remember(secret: string, kind: string): void {
    const line = secret.slice(0, MAX_CUT_CHARS).replace(/\s+/g, " ");
    this.#lines.set(line, { secret, kind });
    this.#masker.maskOf(secret, kind);
    if (isUnmistakable(secret) && this.#known.size < MAX_KNOWN) this.#known.set(secret, kind);
  }

  /** The text without what was found in it, and without a secret that is cut at its end. */
  #mask(text: string, found: readonly FoundSecret[], name: string, onPlace?: (place: SecretPlace) => void): string {
    const cut = this.#findCut(text);
    if (cut !== undefined) {
      const mask = this.#masker.maskOf(cut.secret, cut.kind);
      this.#written.set(mask, cut.kind);
      const before = found.filter(({ start }) => start < cut.start).map((one) => ({ ...one, end: Math.min(one.end, cut.start) }));
      return `${this.#mask(text.slice(0, cut.start), before, name, onPlace)}${mask}…`;
    }
    if (found.length === 0) return text;
    const masks = found.map(({ start, end, kind }) => ({ kind, mask: this.#masker.maskOf(text.slice(start, end), kind) }));
    for (const { mask, kind } of masks) this.#written.set(mask, kind);
    const given = masks.values();
    const masked = replaceSecrets(
      text,
      () => given.next().value?.mask ?? "",
      () => found,
    );
    if (onPlace !== undefined) reportPlaces(masks, masked === masks[0]?.mask && name !== "" ? `${name}: ${masked}` : masked, onPlace);
    return masked;
  }
}

function countKinds(kinds: Iterable<string>): readonly SecretCount[] {
  const counts = new Map<string, number>();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => ({ kind, count }));
}

/** Shorter texts are no secrets. */
const MIN_SECRET_CHARS = 4;
/** No title and no preview is longer, in UTF-16 code units. */
const MAX_CUT_CHARS = 512;
/** The first characters of a secret, fewer than which occur in other words. */
const MIN_CUT_CHARS = 6;
/** Each further occurrence of so many learned secrets is found; a search costs one pass of the text for each. */
const MAX_KNOWN = 200;

/** Whether the secret is none of the words that occur elsewhere: 12 characters, among them letters and digits. */
function isUnmistakable(secret: string): boolean {
  return secret.length >= 12 && secret.length <= 512 && /\d/.test(secret) && /[a-z]/i.test(secret) && !/\s|:\/\/|^[./~]/.test(secret);
}

/** Images and other files: base64 of a length that no key has. */
function isEncodedData(text: string): boolean {
  return text.length > 2_000 && /^[A-Za-z0-9+/_-]+=*$/.test(text);
}

function reportPlaces(masks: readonly { kind: string; mask: string }[], text: string, onPlace: (place: SecretPlace) => void): void {
  let from = 0;
  for (const { kind, mask } of masks) {
    const at = text.indexOf(mask, from);
    from = at + mask.length;
    onPlace({ kind, mask, context: contextOf(text, at, from) });
  }
}

/** The line around a mask, cut. */
function contextOf(text: string, start: number, end: number): string {
  const lineStart = text.lastIndexOf("\n", start) + 1;
  const lineEnd = text.indexOf("\n", end);
  const from = pairStart(text, Math.max(lineStart, start - CHARS_BEFORE));
  return text.slice(from, pairStart(text, Math.min(lineEnd < 0 ? text.length : lineEnd, end + CHARS_AFTER))).trim();
}

/** The value with each text mapped, also the names of members; the value itself if no text changes. `map` gets the member's name. */
function mapTexts<T>(value: T, map: (text: string, name: string) => string): T {
  // A text becomes a text, so the type stays.
  return mapped(value, map, "") as T;
}

function mapped(value: unknown, map: (text: string, name: string) => string, name: string): unknown {
  if (typeof value === "string") return map(value, name);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => mapped(item, map, name));
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  if (!isPlainObject(value)) return value;
  let isChanged = false;
  const members = Object.entries(value);
  for (const member of members) {
    const [key, before] = member;
    member[0] = map(key, "");
    member[1] = mapped(before, map, key);
    isChanged ||= member[0] !== key || member[1] !== before;
  }
  return isChanged ? Object.fromEntries(members) : value;
}
