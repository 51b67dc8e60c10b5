import { InvalidQueryError } from "@bough/session-core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bothOf, parseTypedQuery } from "../../src/session/typed-filters.js";
import { NOON } from "../world.js";

const WORLD = { nowMs: NOON, home: "/home/ada" };
const parse = (typed: string) => parseTypedQuery(typed, WORLD);

describe("the filters of a query", () => {
  it.each([
    ["agent:pi", { agents: ["pi"] }],
    ["agent:cla", { agents: ["claude", "claude-cowork"] }],
    ["agent:claude", { agents: ["claude"] }],
    ["agent:pi,codex", { agents: ["pi", "codex"] }],
    ["agent:pi agent:codex", { agents: ["pi", "codex"] }],
    ["role:user", { roles: ["user"] }],
    ["role:tool", { roles: ["toolResult"] }],
    ["type:comp", { types: ["compaction"] }],
    ["in:code", { places: ["code"] }],
    ["since:1d", { sinceMs: NOON - 86_400_000 }],
    ["until:2h", { untilMs: NOON - 7_200_000 }],
    ["tool:bash", { tool: "bash" }],
    ["path:src/a.ts", { path: "src/a.ts" }],
  ])("%s", (typed, search) => {
    expect(parse(`${typed} theme`)).toMatchObject({ words: "theme", search, problem: undefined });
  });

  it.each([
    ["dir:api", { directory: "api" }],
    ['dir:"my project"', { directory: "my project" }],
    ["dir:~/api", { directory: "/home/ada/api" }],
    ["directory:api", { directory: "api" }],
    ["model:Opus", { model: "opus" }],
    ["cost:>0.5", { costUsd: { atLeast: 0.5, below: Number.POSITIVE_INFINITY } }],
    ["cost:<2", { costUsd: { atLeast: 0, below: 2 } }],
  ])("%s", (typed, sessions) => {
    expect(parse(`theme ${typed}`)).toMatchObject({ words: "theme ", sessions, filters: [typed] });
  });

  it.each(['"type:module"', "http://x", "foo:bar", "/agent:pi x/", '"agent:pi theme"', "a:b agents:pi"])(
    "leaves %s in the words",
    (typed) => {
      expect(parse(typed)).toMatchObject({ words: typed, filters: [], problem: undefined });
    },
  );

  it.each(["since:mon", "role:nobody", "agent:nobody", "cost:much", "in:air", "type:module"])("says of %s what is wrong", (typed) => {
    const { problem } = parse(`theme ${typed}`);
    expect(problem).toBeInstanceOf(InvalidQueryError);
    expect(problem?.message).toContain(`${typed} is `);
  });

  it("asks for nothing by one without a value, as while somebody types", () => {
    expect(parse("theme agent:")).toMatchObject({ words: "theme ", filters: [], search: {}, problem: undefined });
  });

  it("never loses a word that is no filter", () => {
    const word = fc.stringMatching(/^[a-z]{1,8}$/);
    fc.assert(
      fc.property(fc.array(fc.tuple(word, fc.boolean())), (pieces) => {
        const typed = pieces.map(([text, isFilter]) => (isFilter ? `tool:${text}` : text)).join(" ");
        const words = pieces.filter(([, isFilter]) => !isFilter).map(([text]) => text);
        expect(
          parse(typed)
            .words.split(" ")
            .filter((one) => one !== ""),
        ).toEqual(words);
        expect(parse(typed).filters).toHaveLength(pieces.length - words.length);
      }),
    );
  });
});

describe("conditions of two sources", () => {
  it("hold both", () => {
    const both = bothOf({ agents: ["pi", "codex"], sinceMs: 5, roles: ["user"] }, { agents: ["codex", "claude"], sinceMs: 9, untilMs: 20 });
    expect(both).toMatchObject({ agents: ["codex"], sinceMs: 9, untilMs: 20, roles: ["user"] });
    expect(bothOf({ agents: ["pi"] }, { agents: ["codex"] }).agents).toEqual([]);
  });
});
