import { isObject, type JsonObject } from "@bough/session-core/wire";

// A line of a transcript is stored as what its entries and the line before it do not have: the texts and blocks of a line are in an
// entry, and most of its other members (folder, version, session) are as in the last line of its type.
//
// The form of a value, by its JSON: text, number, boolean and null are themselves; an array is an array of forms; an object is one of
//   { "=": { member: form … } }   the object
//   { "~": { member: form … } }   the object in the same place of the last line of this type, with these members replaced
//   { "$": [at, "a.b.0"] }        the value at this path of the `at`-th entry of the line
//   { "^": 0 }                    the uuid of the line before
// A line may have a member named `__proto__`, which Object.fromEntries makes an own one.

/** A stored line: the ids of the entries that it refers to, and its form. */
export interface StoredLine {
  readonly e?: readonly string[];
  readonly l: unknown;
}

/** An entry that a line may refer to. */
export interface LineEntry {
  readonly id: string;
  readonly payload: object;
}

/** The shortest JSON that is replaced by a reference. */
const SHORTEST = 24;

/** Writes and reads lines, in the order of the transcript. */
export class LineDeltas {
  readonly #lastOfType = new Map<unknown, JsonObject>();
  #lastUuid: unknown;

  encode(line: JsonObject, entries: readonly LineEntry[]): StoredLine {
    const references = new References(entries);
    const form = this.#form(line, this.#lastOfType.get(line["type"]), references);
    this.#remember(line);
    return references.isUsed ? { e: entries.map(({ id }) => id), l: form } : { l: form };
  }

  /** @throws {RangeError} the stored line refers to what is not there. */
  decode({ e, l }: StoredLine, entryOf: (id: string) => object | undefined): JsonObject {
    const entries = (e ?? []).map(entryOf);
    const line = this.#value(l, (type) => this.#lastOfType.get(type), entries);
    if (!isObject(line)) throw new RangeError("the stored line is not an object");
    this.#remember(line);
    return line;
  }

  #remember(line: JsonObject): void {
    this.#lastOfType.set(line["type"], line);
    if (typeof line["uuid"] === "string") this.#lastUuid = line["uuid"];
  }

  #form(value: unknown, base: unknown, references: References): unknown {
    if (typeof value === "string" && value === this.#lastUuid) return { "^": 0 };
    const found = references.find(value);
    if (found !== undefined) return { $: found };
    if (Array.isArray(value)) return value.map((member) => this.#form(member, undefined, references));
    if (!isObject(value)) return value;
    if (!isObject(base) || !hasSameKeys(value, base)) return { "=": this.#members(value, {}, Object.keys(value), references) };
    const changed = Object.keys(value).filter((key) => key === "type" || !isSame(value[key], base[key]));
    return { "~": this.#members(value, base, changed, references) };
  }

  #members(value: JsonObject, base: JsonObject, keys: readonly string[], references: References): JsonObject {
    const formOf = (key: string) => {
      // The type of a line names the line that it is compared with, so it is always written out.
      if (key === "type" && typeof value[key] === "string") return value[key];
      return this.#form(value[key], Object.hasOwn(base, key) ? base[key] : undefined, references);
    };
    return Object.fromEntries(keys.map((key) => [key, formOf(key)]));
  }

  #value(form: unknown, baseOf: (type: unknown) => unknown, entries: readonly (object | undefined)[]): unknown {
    if (Array.isArray(form)) return form.map((member) => this.#value(member, nothing, entries));
    if (!isObject(form)) return form;
    if ("^" in form) return this.#lastUuid;
    if ("$" in form) return resolve(form["$"], entries);
    if (isObject(form["="]))
      return Object.fromEntries(Object.entries(form["="]).map(([key, member]) => [key, this.#value(member, nothing, entries)]));
    const changed = isObject(form["~"]) ? form["~"] : {};
    const base = baseOf(changed["type"]);
    if (!isObject(base)) throw new RangeError("the line that this one is like is missing");
    return Object.fromEntries(
      Object.entries(base).map(([key, member]) => [
        key,
        Object.hasOwn(changed, key) ? this.#value(changed[key], () => member, entries) : member,
      ]),
    );
  }
}

const nothing = () => undefined;

function hasSameKeys(a: JsonObject, b: JsonObject): boolean {
  const [one, other] = [Object.keys(a), Object.keys(b)];
  return one.length === other.length && one.every((key, at) => key === other[at]);
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** The values of a line's entries, by their JSON. */
class References {
  readonly #places = new Map<string, readonly [at: number, path: string]>();
  isUsed = false;

  constructor(entries: readonly LineEntry[]) {
    for (const [at, { payload }] of entries.entries()) this.#add(payload, at, "");
  }

  #add(value: unknown, index: number, path: string): void {
    if (path !== "" && isWorthIt(value)) {
      const json = JSON.stringify(value);
      if (json.length >= SHORTEST && !this.#places.has(json)) this.#places.set(json, [index, path]);
    }
    if (typeof value !== "object" || value === null) return;
    for (const [key, member] of Object.entries(value)) {
      // The store may normalize the counts of usage, and a name with a dot is no path.
      if (key !== "usage" && !key.includes(".") && key !== "") this.#add(member, index, path === "" ? key : `${path}.${key}`);
    }
  }

  find(value: unknown): readonly [number, string] | undefined {
    const found = this.#places.size > 0 && isWorthIt(value) ? this.#places.get(JSON.stringify(value)) : undefined;
    if (found !== undefined) this.isUsed = true;
    return found;
  }
}

function isWorthIt(value: unknown): boolean {
  return typeof value === "string" ? value.length >= SHORTEST : typeof value === "object" && value !== null;
}

function resolve(reference: unknown, entries: readonly (object | undefined)[]): unknown {
  const [at, path] = Array.isArray(reference) ? reference : [];
  let value: unknown = entries[Number(at)];
  for (const key of String(path).split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) throw new RangeError(`the entry has no ${String(path)}`);
    value = Reflect.get(value, key);
  }
  return value;
}
