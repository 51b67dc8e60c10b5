import { isObject, type JsonObject } from "@bough/session-core/wire";

/** A number from 0 up to, not including, `below`. */
export type Draw = (below: number) => number;

/** Draws that are the same for the same seed (mulberry32). */
export function drawing(seed: number): Draw {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

type OnBytes = (file: Buffer, draw: Draw, other: Buffer) => Buffer;
type OnLines = (lines: string[], draw: Draw) => void;

const HOSTILE_IDS: readonly unknown[] = [
  ...["", "a\nb", "x".repeat(10_240), "__proto__", "constructor", "\ud800", "\u0000", " ", "../../../etc/passwd", "a".repeat(129)],
  ...["\u202e", "é".repeat(100), "'; DROP TABLE entry; --", 5, null, true, {}, []],
];
const ID_KEYS = [
  "id",
  "parentId",
  "uuid",
  "parentUuid",
  "sessionId",
  "targetId",
  "firstKeptEntryId",
  "fromId",
  "leafUuid",
  "entryId",
  "agentId",
];
const HOSTILE: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  -0.5,
  1e308,
  2 ** 53,
  "",
  "\u0000",
  "\ud800",
  "\ufeff",
  [],
  {},
  [null],
  "z".repeat(20_000),
];
/** JSON that JSON.stringify never writes. */
const RAW = [
  "1e400",
  "-1e400",
  "123456789012345678901234567890",
  "-0",
  '{"__proto__":{"polluted":1}}',
  '{"toJSON":1,"then":"x","length":-1}',
];
const DEPTHS = [600, 2_000, 20_000];
const TYPES: readonly unknown[] = [
  ...["message", "compaction", "branch_summary", "model_change", "context_edit", "custom", "label", "session_info", "session", "title"],
  ...["user", "assistant", "system", "summary", "progress", "entry", "leaf", "value", "bough-session", "attachment", "", null, 3],
];
const ROLES = ["user", "assistant", "system", "toolResult", "bashExecution", "custom", "developer", "tool", "", null];
const TIMES: readonly unknown[] = [null, "NaN", -1, -1e18, 1e18, 8.64e15 + 1, "", "99999-01-01T00:00:00Z", 1.5, {}, "2025-01-01", true];
const GARBAGE = [
  ...[
    "garbage",
    "{",
    "}",
    "[]",
    "null",
    "123",
    '"text"',
    "{}",
    '{"type":"message"}',
    '{"a":1',
    "\u2028",
    "\u0000",
    "[{}]",
    '{"type":"label"}',
  ],
  ...['{"type":"session","version":3,"id":"other"}', '{"type":"entry"}', '{"type":"leaf","name":"main","entryId":"nope"}'],
  ...['{"type":"value","key":"","value":1}', '{"type":"summary","summary":"x","leafUuid":"y"}'],
];

const ON_BYTES = {
  flip: (file, draw) => poked(file, draw, 20, (byte) => byte ^ (1 << draw(8))),
  bytes: (file, draw) => poked(file, draw, 30, () => pick([0, 0xff, 0x80, 0xc0, 10, 13, 34, 92, 123, 125], draw)),
  truncated: (file, draw) => file.subarray(0, draw(file.length)),
  twice: (file) => Buffer.concat([file, file]),
  lineEnds: (file, draw) => Buffer.from(file.toString("latin1").replaceAll("\n", pick(["\r\n", "\r", "\n\n", " \n\t"], draw)), "latin1"),
  byteOrderMark: (file, draw) => Buffer.concat([...Array(1 + draw(2)).fill(Buffer.from([0xef, 0xbb, 0xbf])), file]),
  otherFile: (file, draw, other) => Buffer.concat(draw(2) === 0 ? [file, other] : [other, file]),
  nulls: (file, draw) => inserted(file, draw, Buffer.alloc(1 + draw(5_000))),
  badUtf8: (file, draw) =>
    inserted(
      file,
      draw,
      Buffer.from(
        pick(
          [
            [0xff, 0xfe],
            [0xed, 0xa0, 0x80],
            [0xc0, 0xaf],
            [0xe2, 0x80, 0xa8],
          ],
          draw,
        ),
      ),
    ),
} satisfies Record<string, OnBytes>;

const ON_LINES = {
  copied: (lines, draw) => times(draw, 5, () => lines.splice(draw(lines.length), 0, lines[draw(lines.length)] ?? "")),
  swapped: (lines, draw) => times(draw, 5, () => swap(lines, draw(lines.length), draw(lines.length))),
  shuffled: (lines, draw) =>
    times(
      () => lines.length - 1,
      lines.length,
      (at) => swap(lines, at, draw(lines.length)),
    ),
  removed: (lines, draw) => times(draw, 5, () => lines.splice(draw(lines.length), 1)),
  parentLater: (lines, draw) => times(draw, 3, () => setParent(lines, draw, (at) => Math.min(lines.length - 1, at + 1 + draw(10)))),
  ownParent: (lines, draw) => times(draw, 3, () => setParent(lines, draw, (at) => at)),
  ids: (lines, draw) =>
    times(draw, 3, () => edit(lines, draw(3) === 0 ? 0 : draw(lines.length), (record) => setSome(record, ID_KEYS, HOSTILE_IDS, draw))),
  values: (lines, draw) =>
    times(draw, 4, () => edit(lines, draw(lines.length), (record) => setAnywhere(record, pick(HOSTILE, draw), draw))),
  rawValues: (lines, draw) => times(draw, 3, () => setRaw(lines, draw, pick(RAW, draw))),
  members: (lines, draw) => times(draw, 4, () => edit(lines, draw(lines.length), (record) => setAnywhere(record, undefined, draw))),
  prototype: (lines, draw) =>
    times(draw, 3, () =>
      addText(lines, draw, pick(['"__proto__":{"polluted":true}', '"toJSON":"x"', '"then":{}', '"__proto__":null'], draw)),
    ),
  types: (lines, draw) =>
    times(draw, 3, () => edit(lines, draw(lines.length), (record) => setSome(record, ["type", "subtype"], TYPES, draw))),
  roles: (lines, draw) =>
    times(draw, 3, () =>
      edit(lines, draw(lines.length), (record) => isObject(record.message) && setSome(record.message, ["role"], ROLES, draw)),
    ),
  deep: (lines, draw) => setRaw(lines, draw, nested(pick(DEPTHS, draw), draw(2) === 0)),
  deepTwice: (lines, draw) => {
    const at = setRaw(lines, draw, nested(pick(DEPTHS, draw), true));
    lines.splice(at, 0, lines[at] ?? "");
  },
  sameId: (lines, draw) => {
    const [from, to] = [recordAt(lines, draw(lines.length)), draw(lines.length)];
    edit(lines, to, (record) => void Object.assign(record, from?.id === undefined ? { uuid: from?.uuid } : { id: from.id }));
  },
  times: (lines, draw) =>
    times(draw, 4, () => edit(lines, draw(lines.length), (record) => setSome(record, ["timestamp", "createdAtMs"], TIMES, draw))),
  garbage: (lines, draw) => times(draw, 5, () => lines.splice(draw(lines.length), 0, pick(GARBAGE, draw))),
  renamed: (lines, draw) =>
    times(draw, 3, () =>
      edit(lines, draw(lines.length), (record) => rename(record, pick(["", "a".repeat(5_000), "\u0000", "\ud800"], draw), draw)),
    ),
  header: (lines, draw) => edit(lines, 0, (record) => setAnywhere(record, pick(HOSTILE, draw), draw)),
  version: (lines, draw) => edit(lines, 0, (record) => setSome(record, ["version"], [0, 1, 4, 99, -1, "3", null, [[1]]], draw)),
  hugeLine: (lines, draw) => edit(lines, draw(lines.length), (record) => setAnywhere(record, "h".repeat(1_000_000), draw)),
  blank: (lines, draw) => times(draw, 5, () => lines.splice(draw(lines.length), 0, pick(["", " ", "\t\t", "\r"], draw))),
} satisfies Record<string, OnLines>;

/** What can be done to a file: 32 ways, by name. */
export const MUTATIONS = [...Object.keys(ON_BYTES), ...Object.keys(ON_LINES)];

/** The file after one mutation. */
export function mutated(file: Buffer, name: string, draw: Draw, other: Buffer): Buffer {
  const onBytes: OnBytes | undefined = new Map<string, OnBytes>(Object.entries(ON_BYTES)).get(name);
  if (onBytes !== undefined) return file.length === 0 ? file : onBytes(file, draw, other);
  const lines = file.toString("utf8").replace(/\n$/, "").split("\n");
  new Map<string, OnLines>(Object.entries(ON_LINES)).get(name)?.(lines, draw);
  return Buffer.from(lines.join("\n") + (draw(10) > 0 ? "\n" : ""));
}

function pick<T>(list: readonly T[], draw: Draw): T {
  return list[draw(list.length)] as T;
}

function times(draw: Draw, most: number, act: (at: number) => unknown): void {
  const count = 1 + draw(most);
  for (let at = 0; at < count; at++) act(at);
}

function poked(file: Buffer, draw: Draw, most: number, change: (byte: number) => number): Buffer {
  const copy = Buffer.from(file);
  times(draw, most, () => {
    const at = draw(copy.length);
    copy[at] = change(copy[at] ?? 0);
  });
  return copy;
}

function inserted(file: Buffer, draw: Draw, piece: Buffer): Buffer {
  const at = draw(file.length);
  return Buffer.concat([file.subarray(0, at), piece, file.subarray(at)]);
}

function swap(lines: string[], a: number, b: number): void {
  [lines[a], lines[b]] = [lines[b] ?? "", lines[a] ?? ""];
}

function recordAt(lines: readonly string[], at: number): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(lines[at] ?? "");
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function edit(lines: string[], at: number, change: (record: JsonObject) => unknown): void {
  const record = recordAt(lines, at);
  if (record === undefined || isTooDeep(lines[at])) return;
  change(record);
  lines[at] = JSON.stringify(record);
}

// An earlier mutation may have nested the line deeper than JSON.stringify follows.
function isTooDeep(line: string | undefined): boolean {
  return line?.includes("[".repeat(DEPTHS[0] ?? 0)) === true || line?.includes('{"a":'.repeat(DEPTHS[0] ?? 0)) === true;
}

function setSome(record: object, keys: readonly string[], values: readonly unknown[], draw: Draw): void {
  const present = keys.filter((key) => key in record);
  if (present.length > 0) Object.assign(record, { [pick(present, draw)]: pick(values, draw) });
}

/** Every place in a record: the object or list, and the member. */
function places(value: unknown, found: [object, string][] = []): [object, string][] {
  if (typeof value !== "object" || value === null || found.length > 400) return found;
  for (const [key, member] of Object.entries(value)) {
    found.push([value, key]);
    places(member, found);
  }
  return found;
}

function setAnywhere(record: object, value: unknown, draw: Draw): void {
  const all = places(record);
  if (all.length === 0) return;
  const [owner, key] = pick(all, draw);
  if (value === undefined) Reflect.deleteProperty(owner, key);
  else Reflect.set(owner, key, value);
}

function rename(record: object, name: string, draw: Draw): void {
  const all = places(record).filter(([owner]) => !Array.isArray(owner));
  if (all.length === 0) return;
  const [owner, key] = pick(all, draw);
  Reflect.set(owner, name, Reflect.get(owner, key));
  Reflect.deleteProperty(owner, key);
}

function setParent(lines: string[], draw: Draw, to: (at: number) => number): void {
  const at = draw(lines.length);
  const parent = recordAt(lines, to(at));
  const key = "parentUuid" in (recordAt(lines, at) ?? {}) ? "parentUuid" : "parentId";
  edit(lines, at, (record) => void Object.assign(record, { [key]: parent?.id ?? parent?.uuid ?? null }));
}

/** Puts JSON text somewhere into a line; gives the line's place. */
function setRaw(lines: string[], draw: Draw, text: string): number {
  const at = draw(lines.length);
  edit(lines, at, (record) => setAnywhere(record, "@raw@", draw));
  lines[at] = (lines[at] ?? "").replace('"@raw@"', () => text);
  return at;
}

function addText(lines: string[], draw: Draw, member: string): void {
  const at = draw(lines.length);
  const line = lines[at] ?? "";
  const spots = [...line.matchAll(/\{(?=")/g)].map(({ index }) => index + 1);
  if (spots.length === 0) return;
  const spot = pick(spots, draw);
  lines[at] = `${line.slice(0, spot)}${member},${line.slice(spot)}`;
}

function nested(depth: number, isList: boolean): string {
  return isList ? "[".repeat(depth) + "]".repeat(depth) : `${'{"a":'.repeat(depth)}0${"}".repeat(depth)}`;
}
