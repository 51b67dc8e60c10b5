import { type Entry, nativeCompactionOf } from "@bough/session-core";
import { pairStart } from "@bough/session-core/view";
import { isObject, isPlainObject, without } from "@bough/session-core/wire";
import { findEnvValues, showsEnvFile, usesEnvFile } from "./env-files.js";
import { findSecrets, findSecretsInLine, isStandIn, mergeOverlaps } from "./find-secrets.js";
import { replaceSecrets, SecretMasker } from "./mask-secrets.js";
import type { FoundSecret, SecretCount } from "./secret.js";
import { kindByName } from "./secret-names.js";

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
  /** The learned entries in which no rule found anything: only secrets learned elsewhere are looked for in them again. */
  readonly #clean = new Set<string>();

  /** The number of different secrets that it has learned. */
  get learned(): number {
    return this.#lines.size;
  }

  /** Remembers the secrets of an entry. `canMatter`: texts for which it returns false are not searched. */
  learn(entry: Entry, canMatter: (text: string) => boolean = () => true): void {
    const isEnv = this.#showsEnvFile(entry);
    let isClean = true;
    mapTexts(entry, (text, name) => {
      if (!canMatter(text)) {
        isClean = false;
        return text;
      }
      for (const { start, end, kind } of this.#find(text, name, isEnv)) {
        isClean = false;
        this.#remember(text.slice(start, end), kind);
      }
      return text;
    });
    if (isClean) this.#clean.add(cleanKey(entry));
  }

  /**
   * The entry without its secrets; itself if it has none. `onPlace` gets each place of a secret. A provider's own compaction is left out of
   * the entry if a mask would change it: the provider rejects a changed block, and the summary says the same.
   */
  maskEntry(entry: Entry, onPlace?: (place: SecretPlace) => void): Entry {
    return withoutChangedItems(entry, this.#maskTexts(entry, onPlace));
  }

  #maskTexts(entry: Entry, onPlace?: (place: SecretPlace) => void): Entry {
    if (!this.#clean.has(cleanKey(entry))) {
      const isEnv = this.#showsEnvFile(entry);
      return mapTexts(entry, (text, name) => this.#mask(text, this.#find(text, name, isEnv), name, onPlace));
    }
    if (this.#lines.size === 0) return entry;
    return mapTexts(entry, (text, name) => this.#mask(text, this.#findKnown(text), name, onPlace));
  }

  /** A header, the labels or another JSON value without its secrets. Members named as titles and labels are masked by `maskLine`. */
  maskValue<T>(value: T, onPlace?: (place: SecretPlace) => void): T {
    return mapTexts(value, (text, name) => {
      const found = LINE_NAMES.has(name) ? this.#findInLine(text) : this.#find(text, name, false);
      return this.#mask(text, found, name, onPlace);
    });
  }

  /**
   * A title, a label, a preview or another text on one line without its secrets: by rules that need no start of a line, and without each
   * secret that the session has in a longer text.
   */
  maskLine(text: string): string {
    return this.#mask(text, this.#findInLine(text), "");
  }

  /** Notes which masks a piece of the document shows: an export can leave out the texts that have the others. */
  see(piece: string): void {
    for (const [mask, kind] of this.#written) {
      const words = mask.slice(1, -1);
      if (!this.#seen.has(mask) && (piece.includes(`${words}]`) || piece.includes(`${words}\\]`))) this.#seen.set(mask, kind);
    }
  }

  /** Returns the number of different secrets of each kind that were masked. */
  counts(): readonly SecretCount[] {
    return countKinds(this.#written.values());
  }

  /** Returns the number of different secrets of each kind that are masked in the pieces that it has seen. */
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

  #findInLine(text: string): readonly FoundSecret[] {
    if (text.length < MIN_SECRET_CHARS) return [];
    const found = [...findSecretsInLine(text), ...this.#findKnown(text)];
    for (const [line, { kind }] of this.#lines) {
      // Values of .env files are often words of every day, such as the name of the program.
      if (line.length < MIN_SECRET_CHARS || (kind === ENV_KIND && !/\d/.test(line))) continue;
      for (let start = text.indexOf(line); start >= 0; start = text.indexOf(line, start + line.length))
        if (isWhole(text, start, start + line.length)) found.push({ start, end: start + line.length, kind });
    }
    return mergeOverlaps(found);
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
    if (!canBeCut(text)) return undefined;
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

  /** Returns the text without the found secrets, and without a secret that is cut at its end. */
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

/** The masked entry without the items of a provider's compaction if these are not those of the entry any more. */
function withoutChangedItems(entry: Entry, masked: Entry): Entry {
  if (entry === masked || masked.type !== "compaction" || entry.type !== "compaction") return masked;
  const items = nativeCompactionOf(entry)?.items;
  if (items === undefined || nativeCompactionOf(masked)?.items === items || !isObject(masked.details)) return masked;
  // Codex keeps the items in its list too.
  return { ...masked, details: without(masked.details, ["native", "replacement_history"]) };
}

/** Ids can return with another entry, as after a restore, and so can numbers; hardly both at once. */
function cleanKey({ seq, id }: Entry): string {
  return `${seq} ${id}`;
}

/** Members that are put on one line when they are written. */
const LINE_NAMES: ReadonlySet<string> = new Set(["title", "firstText", "label", "preview"]);
const ENV_KIND = "value of an .env file";

/** True if a part of a text is no part of a longer word. */
function isWhole(text: string, start: number, end: number): boolean {
  return !(isWordAt(text, start - 1) && isWordAt(text, start)) && !(isWordAt(text, end - 1) && isWordAt(text, end));
}

function isWordAt(text: string, at: number): boolean {
  return /[\p{L}\p{N}_]/u.test(text.charAt(at));
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
/** The number of learned secrets whose further occurrences are found; a search costs one pass of the text for each. */
const MAX_KNOWN = 200;

// Which texts can have a secret that occurs in another text. A secret that is recognized in any text is at least 12 characters long and has no
// blank. Of such a run of characters, wherever it starts in a text, six characters start at a position that is a multiple of six.

const GRAM = 6;
/** The most characters of runs that are compared; for more, looking for the secrets takes no longer. */
const MOST_CHARS = 100_000;

/** Texts that can share a secret with some texts. */
class SharedRuns {
  readonly #grams = new Set<string>();
  /** 1 where a gram may be, by a number of its characters. */
  readonly #starts = new Uint8Array(0x10000);
  #chars = 0;

  /** Adds the runs of a text that can be secrets, or have one inside. */
  add(text: string): void {
    for (const [run] of text.matchAll(/\S{12,}/g)) {
      if (!/\d/.test(run) || !/[a-z]/i.test(run)) continue;
      this.#chars += run.length;
      if (this.#chars > MOST_CHARS) return;
      for (let at = 0; at + GRAM <= run.length; at += 1) {
        this.#grams.add(run.slice(at, at + GRAM));
        this.#starts[startOf(run, at)] = 1;
      }
    }
  }

  /** True if a text can have a secret that is in one of the added texts. Cost: some 2 ms for each million characters. */
  canShare(text: string): boolean {
    if (this.#chars > MOST_CHARS) return true;
    for (let at = 0; at + GRAM <= text.length; at += GRAM)
      if (this.#starts[startOf(text, at)] === 1 && this.#grams.has(text.slice(at, at + GRAM))) return true;
    return false;
  }
}

function startOf(text: string, at: number): number {
  return (text.charCodeAt(at) * 961 + text.charCodeAt(at + 2) * 31 + text.charCodeAt(at + 5)) & 0xffff;
}

/**
 * A test for the texts of a session that can have a secret of some entries: a masker that has learned only these masks the entries as one that
 * has learned all. Of a secret in which a text was cut only the start is there, so that each text can have it.
 */
export function canShareSecretsWith(entries: readonly Entry[]): (text: string) => boolean {
  const runs = new SharedRuns();
  let isCut = false;
  mapTexts(entries, (text) => {
    runs.add(text);
    isCut ||= canBeCut(text);
    return text;
  });
  return isCut ? () => true : (text) => runs.canShare(text);
}

function canBeCut(text: string): boolean {
  return text.endsWith("…") && text.length <= MAX_CUT_CHARS;
}

/** True if the secret is unlikely to occur as a normal word: at least 12 characters, among them letters and digits. */
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
  // {"name": "DB_PASSWORD", "value": "..."}: the value has that name.
  const named = members.find(([key, text]) => /^(?:name|key)$/i.test(key) && typeof text === "string" && kindByName(text) !== undefined);
  for (const member of members) {
    const [key, before] = member;
    member[0] = map(key, "");
    member[1] = mapped(before, map, named !== undefined && /^value$/i.test(key) ? String(named[1]) : key);
    isChanged ||= member[0] !== key || member[1] !== before;
  }
  return isChanged ? Object.fromEntries(members) : value;
}
