import fc from "fast-check";
import { readings, readOf } from "../../../formats/test/world/readings.js";
import { BoughError } from "../../src/errors/bough-error.js";
import type { Write } from "../../src/port/writes.js";
import type { Session } from "../../src/session/session.js";
import type { Store } from "../../src/store/store.js";
import { entryNamed } from "./grow.js";

// Random operations on a few sessions, to compare what two stores make of them. Numbers choose among what is there, whatever its count.

const SESSIONS = ["s0", "s1", "s2"];

/** Texts that engines have trouble with: characters that a text of PostgreSQL cannot have, patterns, quotes, cases and marks. */
export const TEXTS = [
  "alpha beta",
  "Alpha",
  "x\0y",
  "\u0001",
  "a\u0001\u0002b",
  "日本語 テキスト",
  "e\u0301clair ÉCLAIR",
  "😀",
  "",
  " ",
  "100%_",
  "back\\slash 'quoted' \"twice\"",
  "line\u2028break",
  "İstanbul straße STRASSE",
  "\uffff",
];

const VALUES = [
  null,
  true,
  -0,
  1e21,
  1e-7,
  2 ** 53,
  "text\0",
  { b: 1, a: 2, 10: 1, 9: 2 },
  [],
  { "": { "\0": "\u0001" } },
  "x".repeat(70_000),
  [1, "1", { a: null }],
];

const number = fc.nat(40);
const session = fc.constantFrom(...SESSIONS);
const leaf = fc.constantFrom("main", "main", "main", "worker");
const text = fc.constantFrom(...TEXTS);
const value = fc.constantFrom(...VALUES);
const key = fc.constantFrom("k", "k/1", "k/2", "K", "k\0", "k\u0001", "日");
const conflict = fc.constantFrom("error", "follow", "branch" as const);
const metadata = fc.dictionary(fc.constantFrom("owner", "n", "\0", "tags"), fc.oneof(value, text), { maxKeys: 3 });
const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });

/** A write of a batch; entries are named when it is done. */
const write = fc.oneof(
  { weight: 5, arbitrary: fc.record({ write: fc.constant("entry" as const), kind: fc.constantFrom(..."uaksmhnd"), of: number }) },
  { weight: 2, arbitrary: fc.record({ write: fc.constantFrom("below" as const, "known" as const), of: number }) },
  { weight: 1, arbitrary: fc.record({ write: fc.constantFrom("result" as const, "compact" as const, "omit" as const), of: number }) },
  { weight: 1, arbitrary: fc.record({ write: fc.constantFrom("replace" as const, "tell" as const), of: number }) },
  { weight: 2, arbitrary: fc.record({ write: fc.constant("text" as const), text }) },
  { weight: 1, arbitrary: fc.record({ write: fc.constant("label" as const), of: number, label: fc.option(text) }) },
  { weight: 1, arbitrary: fc.record({ write: fc.constant("value" as const), key, value }) },
  {
    weight: 1,
    arbitrary: fc.record({ write: fc.constant("ifEquals" as const), key, value, ifEquals: fc.option(value, { nil: undefined }) }),
  },
  { weight: 1, arbitrary: fc.record({ write: fc.constant("move" as const), of: number, leaf: maybe(leaf) }) },
  { weight: 1, arbitrary: fc.record({ write: fc.constant("deleteValues" as const), prefix: fc.constantFrom("k", "k/", "") }) },
);

type GivenWrite = typeof write extends fc.Arbitrary<infer W> ? W : never;

const at = { session, leaf, handle: fc.nat(1) };

const operation = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("create" as const, "openOrCreate" as const),
      session,
      title: maybe(text),
      cwd: fc.constantFrom("/home/ada", "/home/ada/x", "/\0", undefined),
      metadata: maybe(metadata),
      kind: fc.constantFrom("subagent" as const, undefined, undefined),
      parent: maybe(session),
      writes: fc.array(write, { maxLength: 3 }),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({ do: fc.constant("write" as const), ...at, writes: fc.array(write, { minLength: 1, maxLength: 4 }), conflict }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("move" as const), ...at, of: fc.option(number) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("undo" as const, "redo" as const, "refresh" as const), ...at }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("rename" as const),
      session,
      title: fc.option(text),
      source: fc.constantFrom("user", "auto" as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("archive" as const), session, archived: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("delete" as const), session }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("deleteLeaf" as const), session, leaf }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("metadata" as const), session, patch: metadata }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("counts" as const), ...at, of: number, tokens: fc.nat(9) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("fork" as const),
      session,
      into: session,
      at: maybe(number),
      tree: fc.boolean(),
      values: maybe(fc.boolean()),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("read" as const), ...at, reading: fc.constantFrom(...readings), of: number, other: number }),
  },
);

export type Operation = typeof operation extends fc.Arbitrary<infer O> ? O : never;

export const operations: fc.Arbitrary<readonly Operation[]> = fc.array(operation, { minLength: 1, maxLength: 40, size: "max" });

/** The names of the entries that were written to each session, or should have been: the same for every store that does the operations. */
export class Names {
  readonly #of = new Map<string, string[]>();
  #count = 0;

  next(id: string, letter: string): string {
    this.#count += 1;
    const name = `${letter}${this.#count}`;
    this.take(id, [name]);
    return name;
  }

  /** An entry of the session, or a name that none has. */
  pick(id: string, number: number): string {
    const names = this.of(id);
    return names[number % (names.length + 1)] ?? "nobody";
  }

  of(id: string): readonly string[] {
    return this.#of.get(id) ?? [];
  }

  take(id: string, names: readonly string[]): void {
    this.#of.set(id, [...this.of(id), ...names]);
  }
}

/** The writes of a batch, with names for its entries. */
function named(id: string, given: readonly GivenWrite[], names: Names): readonly Write[] {
  return given.map((one) => namedWrite(id, one, names));
}

function namedWrite(id: string, given: GivenWrite, names: Names): Write {
  const of = "of" in given ? names.pick(id, given.of) : "";
  const entry = (word: string): Write => ({ kind: "entry", entry: entryNamed(word) });
  switch (given.write) {
    case "entry":
      return entry(names.next(id, given.kind));
    case "below":
      return { ...entryWrite(names.next(id, "u")), parentId: of };
    case "known":
      return entry(of === "nobody" ? names.next(id, "u") : of);
    case "result":
      return entry(`${names.next(id, "r")}:${of}`);
    case "compact":
      return entry(`${names.next(id, "c")}:${of}`);
    case "omit":
      return entry(`${names.next(id, "x")}:${of}`);
    case "replace":
      return entry(`${names.next(id, "y")}:${of}`);
    case "tell":
      return entry(`${names.next(id, "b")}:${of}`);
    case "text":
      return { kind: "entry", entry: { type: "message", message: { role: "user", content: given.text }, id: names.next(id, "u") } };
    case "label":
      return { kind: "label", entryId: of, label: given.label };
    case "value":
      return { kind: "value", key: given.key, value: given.value };
    case "ifEquals":
      return { kind: "value", key: given.key, value: given.value, ifEquals: given.ifEquals };
    case "move":
      return { kind: "moveLeaf", to: of, leaf: given.leaf };
    case "deleteValues":
      return { kind: "deleteValues", prefix: given.prefix };
  }
}

function entryWrite(word: string) {
  return { kind: "entry", entry: entryNamed(word) } as const;
}

/** An operation with all names in it: what each store is asked to do. */
export type Act = (store: StoreUnderTest) => Promise<unknown>;

/** A store, and the handles on its sessions that stay open from one operation to the next. */
export class StoreUnderTest {
  readonly store: Store;
  readonly #handles = new Map<string, Session>();

  constructor(store: Store) {
    this.store = store;
  }

  /** The handle of this number on a leaf of a session. It stays, also when others move the leaf or delete the session. */
  async handle({ session: id, leaf: name, handle }: { session: string; leaf: string; handle: number }): Promise<Session> {
    const at = `${id} ${name} ${handle}`;
    const opened = this.#handles.get(at) ?? (await this.store.openSession(id, { leaf: name }));
    this.#handles.set(at, opened);
    return opened;
  }

  forget(id: string): void {
    for (const at of this.#handles.keys()) if (at.startsWith(`${id} `)) this.#handles.delete(at);
  }
}

/** What an operation does to any store. */
export function actOf(given: Operation, names: Names): Act {
  switch (given.do) {
    case "create":
    case "openOrCreate":
      return creation(given, named(given.session, given.writes, names));
    case "write": {
      const writes = named(given.session, given.writes, names);
      return async (under) => (await (await under.handle(given)).write(writes, { onConflict: given.conflict })).map(({ id }) => id);
    }
    case "move": {
      const to = given.of === null ? null : names.pick(given.session, given.of);
      return async (under) => (await under.handle(given)).moveLeaf(to);
    }
    case "undo":
      return async (under) => (await under.handle(given)).undoMove();
    case "redo":
      return async (under) => (await under.handle(given)).redoMove();
    case "refresh":
      return async (under) => (await under.handle(given)).refresh();
    case "counts": {
      const counts = new Map([[names.pick(given.session, given.of), given.tokens]]);
      return async (under) => (await under.handle(given)).tokenCounts.save("c", counts);
    }
    case "fork":
      return fork(given, given.at === undefined ? undefined : names.pick(given.session, given.at), names);
    case "read": {
      const [of, other] = [names.pick(given.session, given.of), names.pick(given.session, given.other)];
      return async (under) => readOf(given.reading, under.store, await under.handle(given), of, other);
    }
    default:
      return change(given);
  }
}

function creation(given: Extract<Operation, { do: "create" | "openOrCreate" }>, writes: readonly Write[]): Act {
  const { session: id, title, cwd, metadata: members, kind, parent } = given;
  const parts = { title, cwd, metadata: members, kind };
  const all = parent === undefined ? parts : { ...parts, parent: { sessionId: parent, entryId: null, toolCallId: null } };
  return async ({ store }) => {
    const made =
      given.do === "create" ? await store.createSession({ id, ...all }, { writes }) : await store.openOrCreateSession(id, all, { writes });
    return made.leafId;
  };
}

function fork(given: Extract<Operation, { do: "fork" }>, from: string | undefined, names: Names): Act {
  const { session: id, into, tree, values } = given;
  names.take(into, names.of(id));
  return async ({ store }) => (await store.forkSession(id, { id: into, at: from, tree, values })).record();
}

type Change = Extract<Operation, { do: "rename" | "archive" | "delete" | "deleteLeaf" | "metadata" }>;

function change(given: Change): Act {
  const { session: id } = given;
  switch (given.do) {
    case "rename":
      return ({ store }) => store.renameSession(id, given.title, given.source);
    case "archive":
      return ({ store }) => store.archiveSession(id, given.archived);
    case "delete":
      return ({ store }) => store.deleteSession(id);
    case "deleteLeaf":
      return ({ store }) => store.deleteLeaf(id, given.leaf);
    case "metadata":
      return ({ store }) => store.setMetadata(id, given.patch);
  }
}

/** What came of it: the result, or the error with all that it says. */
export async function outcome(act: Act, under: StoreUnderTest): Promise<unknown> {
  try {
    return { result: await act(under) };
  } catch (error) {
    if (!(error instanceof BoughError)) throw error;
    return { ...error, error: error.name, message: error.message };
  }
}
