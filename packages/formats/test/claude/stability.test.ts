import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { boundary, call, fileOf, type Line, progress, reply, result, side, summary, system, text, user } from "./claude-file.js";
import { branchPoints, type Imported, importAll, pathOf } from "./imported.js";

const conversation: readonly Line[] = [
  side("queue-operation", { operation: "enqueue" }),
  user("u1", null, "go"),
  reply("a1", "u1", "m1", [call("c1"), call("c2")]),
  progress("p1", "a1"),
  result("r1", "a1", "c1"),
  result("r2", "a1", "c2"),
  reply("a2", "r1", "m2", [text("done")]),
  system("s1", "a2", "turn_duration"),
  side("last-prompt", { lastPrompt: "go" }),
  boundary("b1", "s1"),
  summary("s2", "b1"),
  user("u2", "s2", "next"),
  user("u3", "a2", "rather this"),
];

function read(path: string): Imported {
  const [session] = importAll(path);
  if (session === undefined) throw new RangeError("the file has no session");
  return session;
}

describe("reading a file again", () => {
  test("gives equal records, also from one and the same session object", () => {
    const path = fileOf(conversation);
    expect(read(path).records).toEqual(read(path).records);
  });

  test("gives the same ids wherever the file lies", () => {
    expect(read(fileOf(conversation)).records).toEqual(read(fileOf(conversation)).records);
  });

  test.each([2, 4, 6, 7, 9, 11, 12])("after it has grown from %i lines, gives what it gave and then more", (length) => {
    const short = read(fileOf(conversation.slice(0, length)));
    expect(read(fileOf(conversation)).entries.slice(0, short.entries.length)).toEqual(short.entries);
  });
});

interface Drawn {
  readonly kind: "user" | "reply" | "result" | "progress" | "command";
  readonly back: number;
}

// Records of random kinds, each hanging on a random earlier one. A result answers the reply that it hangs on. A reply has a parent
// unless it is the first record: of files without parents, unlinked.test.ts.
function linesOf(drawn: readonly Drawn[]): readonly Line[] {
  return drawn.map(({ kind, back }, at) => {
    const first = kind === "reply" && at > 0 ? "n0" : null;
    return lineOf(kind, `n${at}`, at > back ? `n${at - back - 1}` : first, back);
  });
}

function lineOf(kind: Drawn["kind"], id: string, parent: string | null, back: number): Line {
  switch (kind) {
    case "user":
      return user(id, parent, id);
    case "reply":
      return reply(id, parent, `m${id}`, [text(id), ...Array.from({ length: 7 }, (_, number) => call(`${id}.${number}`))]);
    case "result":
      return result(id, parent, `${parent}.${back}`);
    case "progress":
      return progress(id, parent);
    case "command":
      return user(id, parent, "<command-name>/x</command-name>");
  }
}

const kinds: Drawn["kind"][] = ["user", "reply", "result", "progress", "command"];
const drawn = fc.array(fc.record({ kind: fc.constantFrom(...kinds), back: fc.nat(6) }), { minLength: 1, maxLength: 40 });
const isNoise = (kind: Drawn["kind"] | undefined): boolean => kind === "progress" || kind === "command";
const indexOf = (id: string): number => Number(id.slice(1));

describe("whatever tree the records form", () => {
  test("each entry stands below the parent that its record names", () => {
    fc.assert(
      fc.property(drawn, (records) => {
        const lines = linesOf(records);
        const session = read(fileOf(lines));
        expect(session.entries).toHaveLength(lines.length);
        for (const [at, line] of lines.entries()) {
          if (line.parentUuid !== null) expect(pathOf(session, `n${at}`)).toContain(line.parentUuid);
        }
      }),
    );
  });

  test("prompts and replies of one parent stay branches of their own", () => {
    fc.assert(
      fc.property(drawn, (records) => {
        const lines = linesOf(records);
        const session = read(fileOf(lines));
        for (const [at, line] of lines.entries()) {
          const earlier = pathOf(session, `n${at}`).slice(0, -1).map(indexOf);
          const siblings = earlier.filter((other) => lines[other]?.parentUuid === line.parentUuid);
          const isStep = (index: number): boolean => records[index]?.kind === "user" || records[index]?.kind === "reply";
          if (isStep(at)) expect(siblings.filter(isStep)).toEqual([]);
        }
      }),
    );
  });

  test("each child of a branch point is a prompt or a reply, or leads to one", () => {
    fc.assert(
      fc.property(drawn, (records) => {
        const session = read(fileOf(linesOf(records)));
        const onTheWay = new Set(records.flatMap(({ kind }, at) => (kind === "user" || kind === "reply" ? pathOf(session, `n${at}`) : [])));
        for (const child of [...branchPoints(session).values()].flat()) {
          const { kind } = records[indexOf(child)] ?? {};
          expect(kind === "result").toBe(false);
          if (isNoise(kind)) expect(onTheWay.has(child)).toBe(true);
        }
      }),
    );
  });

  test("the entries of a shorter file are the first ones of a longer", () => {
    // Nothing hangs on noise here: whether it carries a branch shows only in what comes after it.
    const bare = drawn.map((records) => records.filter(({ kind }) => !isNoise(kind)));
    fc.assert(
      fc.property(bare, fc.nat(40), (records, length) => {
        const lines = linesOf(records);
        const short = importAll(fileOf(lines.slice(0, length)))[0]?.entries ?? [];
        expect((importAll(fileOf(lines))[0]?.entries ?? []).slice(0, short.length)).toEqual(short);
      }),
    );
  });
});
