import { InvalidQueryError } from "@bough/session-core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bothOf, conflictOf, parseTypedQuery } from "../../src/session/typed-filters.js";
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
    ["agent:pi,", { agents: ["pi"] }],
    ["agent:mine", { agents: ["mine"] }],
    ["role:user", { roles: ["user"] }],
    ["role:,user,,assistant", { roles: ["user", "assistant"] }],
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

  it.each(["since:mon", "role:nobody", "agent:,", "cost:much", "in:air", "type:module"])("says of %s what is wrong", (typed) => {
    const { problem } = parse(`theme ${typed}`);
    expect(problem).toBeInstanceOf(InvalidQueryError);
    expect(problem?.message).toContain(`${typed} is `);
  });

  it("says which item of a list is none", () => {
    expect(parse("role:user,nobody").problem?.message).toContain("role:user,nobody has nobody, which is unknown: choose from ");
  });

  it("asks for nothing by one without a value at the end, as while somebody types", () => {
    expect(parse("theme agent:")).toMatchObject({ words: "theme ", filters: [], search: {}, problem: undefined });
    expect(parse('theme dir:"')).toMatchObject({ words: "theme ", filters: [], sessions: {}, problem: undefined });
  });

  it.each(["Traceback in: parser", "tool: bash failed", "agent: "])(
    "leaves a name without a value before something else in the words: %s",
    (typed) => {
      expect(parse(typed)).toMatchObject({ words: typed, filters: [], search: {}, problem: undefined });
    },
  );

  it("leaves a name without a value in the words of a command, at the end too", () => {
    const query = parseTypedQuery("agent:pi broken model:", { ...WORLD, isComplete: true });
    expect(query).toMatchObject({ words: "broken model:", filters: ["agent:pi"], search: { agents: ["pi"] }, sessions: {} });
  });

  it.each(["tool:bash tool:read", "path:a.ts path:b.ts", "dir:api directory:web", "model:opus model:gpt"])(
    "cannot hold two different values of one: %s",
    (typed) => {
      expect(parse(typed).problem?.message).toContain(`${typed.replace(" ", " and ")} cannot both hold`);
    },
  );

  it("takes the same value twice, and the costs of both ranges", () => {
    expect(parse("tool:bash tool:bash")).toMatchObject({ search: { tool: "bash" }, problem: undefined });
    expect(parse("cost:>0.5 cost:<2")).toMatchObject({ sessions: { costUsd: { atLeast: 0.5, below: 2 } }, problem: undefined });
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

  it("conflict in a tool or a file only if these differ", () => {
    expect(conflictOf({ path: "src/a.ts" }, { path: "b.ts" })).toBe("the path cannot be both src/a.ts and b.ts: leave one out");
    expect(conflictOf({ tool: "bash" }, { tool: "bash", path: "b.ts" })).toBeUndefined();
  });
});
