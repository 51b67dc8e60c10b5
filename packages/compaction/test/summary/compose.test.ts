import type { ContextMessage } from "@bough/session-core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readSettings, type SettingsSource } from "../../src/settings/read-settings.js";
import { composeSummary, type SummaryParts, stripComposed } from "../../src/summary/compose.js";

const NO_FILES = { readFiles: [], modifiedFiles: [] };
const BODY = "## Goal\nMend the parser.";
const COVERS = { fromEntryId: "e1", toEntryId: "e42", entries: 42 };

const user = (content: string): ContextMessage => ({ role: "user", content });
const said = (text: string): ContextMessage => ({ role: "assistant", content: [{ type: "text", text }] });

function parts(given: Partial<Omit<SummaryParts, "settings">> = {}, settings: SettingsSource = {}): SummaryParts {
  return {
    kind: "compaction",
    body: BODY,
    messages: [],
    previous: null,
    files: NO_FILES,
    host: null,
    covers: null,
    recall: true,
    model: null,
    ...given,
    settings: readSettings(settings),
  };
}

const EVERYTHING = {
  userMessages: { enabled: true },
  keep: { head: true },
  summary: { keepGoing: "always", recordPath: "/tmp/my record.jsonl" },
} as const;

const full = (given: Partial<Omit<SummaryParts, "settings">> = {}) =>
  parts(
    {
      messages: [user("Mend it"), said("I will look."), user("Hurry")],
      files: { readFiles: ["a.ts"], modifiedFiles: ["b.ts", "c.ts"] },
      host: {
        plan: "1. look",
        todos: "- [ ] mend",
        skills: [
          { name: "old", path: "/s/old", instructions: "x" },
          { name: "new", instructions: "do so" },
        ],
        agentSummary: "a reviewer",
      },
      covers: COVERS,
      ...given,
    },
    EVERYTHING,
  );

describe("a stored summary", () => {
  test("is the body alone where nothing else is known", () => {
    expect(composeSummary(parts())).toBe(BODY);
  });

  test("lists files as pi does, one path a line", () => {
    expect(composeSummary(parts({ files: { readFiles: ["a.ts", "b c.ts"], modifiedFiles: ["d.ts"] } }))).toBe(
      `${BODY}\n\n<read-files>\na.ts\nb c.ts\n</read-files>\n\n<modified-files>\nd.ts\n</modified-files>`,
    );
  });

  test("does not list files where the setting is off", () => {
    expect(composeSummary(parts({ files: { readFiles: ["a.ts"], modifiedFiles: [] } }, { summary: { fileLists: false } }))).toBe(BODY);
  });

  test("has its range and how to look it up", () => {
    const text = composeSummary(parts({ covers: COVERS }, { summary: { recordPath: "/tmp/my record.jsonl" } }));
    for (const word of ["42 entries", "e1 to e42", "recall_search", "recall_describe", "recall_expand", "'/tmp/my record.jsonl'"])
      expect(text).toContain(word);
  });

  test("names no tools that the agent does not have", () => {
    expect(composeSummary(parts({ covers: COVERS, recall: false }))).not.toContain("recall_");
  });

  test("has no breadcrumb where the setting is off", () => {
    expect(composeSummary(parts({ covers: COVERS }, { summary: { breadcrumb: false } }))).toBe(BODY);
  });

  test("carries the host's state: plan and todos, the newest skill in full, older ones by path", () => {
    const text = composeSummary(full());
    expect(text).toContain("<current_state>\n<plan>\n1. look\n</plan>\n<todos>\n- [ ] mend\n</todos>\n</current_state>");
    expect(text).toContain("old: /s/old (read it again when it is needed)\n<skill>\nnew\ndo so\n</skill>");
    expect(text).not.toContain("\nx\n");
    expect(text).toContain("<agent_summary>\na reviewer\n</agent_summary>");
  });

  test("carries the first run word for word, up to the first answer in words", () => {
    const text = composeSummary(full());
    expect(text).toContain("<first-run>\n[User]: Mend it\n\n[Assistant]: I will look.\n</first-run>");
  });

  test("reminds GPT-4.1 to go on, and no other, where the setting is auto", () => {
    expect(composeSummary(parts({ model: { modelId: "gpt-4.1-mini" } }))).toContain("<keep-going>");
    expect(composeSummary(parts({ model: { modelId: "gpt-5" } }))).toBe(BODY);
    expect(composeSummary(parts({ model: { modelId: "gpt-4.1" } }, { summary: { keepGoing: "never" } }))).toBe(BODY);
  });

  test("of a branch warns that files may still be changed, and quotes no user messages", () => {
    const text = composeSummary(full({ kind: "branch" }));
    expect(text).toMatch(/^<branch-note>\n.*changed.*\n<\/branch-note>\n\n## Goal/);
    expect(text).not.toContain("<user-messages>");
  });

  test("masks secrets wherever they came from", () => {
    const key = `ghp_${"Ab1".repeat(12)}`;
    const text = composeSummary(full({ messages: [user(key), said("ok")], host: { plan: key } }));
    expect(text).not.toContain(key);
  });

  test("lists at most 300 paths, and the number of further ones", () => {
    const readFiles = Array.from({ length: 310 }, (_one, at) => `f${at}.ts`);
    const text = composeSummary(parts({ files: { readFiles, modifiedFiles: [] } }));
    expect(text).toContain("f299.ts\n(10 more)\n</read-files>");
  });
});

describe("the person's own words", () => {
  const words = (count: number) => Array.from({ length: count }, (_one, at) => user(`m${at + 1}`));
  const block = (
    messages: readonly ContextMessage[],
    settings: SettingsSource = { userMessages: { enabled: true } },
    previous: string | null = null,
  ) => composeSummary(parts({ messages, previous }, settings)).split("\n</user-messages>")[0] ?? "";
  const named = (text: string) =>
    [...text.matchAll(/<user-message>\n(.*?)\n<\/user-message>|\.\.\. (\d+) messages omitted/g)].map((hit) => hit[1] ?? `(${hit[2]})`);

  test("are the newest 16 and the oldest 4 of more than 20, with the number of those between", () => {
    const kept = named(block(words(25)));
    expect(kept).toEqual(["m1", "m2", "m3", "m4", "(5)", ...Array.from({ length: 16 }, (_one, at) => `m${at + 10}`)]);
  });

  test("are all there where they fit", () => {
    expect(named(block(words(20)))).toHaveLength(20);
  });

  test("are cut where one is longer than the budget", () => {
    const text = block([user("a".repeat(100)), user("b".repeat(100))], { userMessages: { enabled: true, maxChars: 100 } });
    // 80 of 100 characters go to the newest, 19 of which are the mark; what is left is too little for anything but a mark.
    expect(text).toContain(`${"b".repeat(80 - "...<truncated>...".length)}...<truncated>...`);
  });

  test("never exceed the budget of characters", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }), { maxLength: 30 }),
        fc.integer({ min: 0, max: 400 }),
        (texts, maxChars) => {
          const composed = composeSummary(parts({ messages: texts.map(user) }, { userMessages: { enabled: true, maxChars } }));
          const kept = [...composed.matchAll(/<user-message>\n([\s\S]*?)\n<\/user-message>/g)].map((hit) => hit[1] ?? "");
          expect(kept.join("").length).toBeLessThanOrEqual(maxChars);
          expect(kept.length).toBeLessThanOrEqual(20);
          expect(composed.isWellFormed()).toBe(true);
        },
      ),
    );
  });

  test("are carried on from one summary to the next, and the count of omitted ones adds up", () => {
    const first = composeSummary(parts({ messages: words(25) }, { userMessages: { enabled: true } }));
    const second = named(block([user("m26"), user("m27")], { userMessages: { enabled: true } }, first));
    // Of the 22 that are known, 16 newest and 4 oldest; 2 more are omitted in addition to the 5.
    expect(second).toEqual(["m1", "m2", "m3", "m4", "(7)", ...Array.from({ length: 16 }, (_one, at) => `m${at + 12}`)]);
  });
});

describe("taking a summary apart", () => {
  test("recovers the body from any composed summary", () => {
    expect(stripComposed(composeSummary(full()))).toBe(BODY);
    expect(stripComposed(composeSummary(full({ kind: "branch" })))).toBe(BODY);
  });

  test("gives the body of a summary that pi wrote", () => {
    expect(stripComposed(`${BODY}\n\n<read-files>\na.ts\n</read-files>\n\n<modified-files>\nb.ts\n</modified-files>`)).toBe(BODY);
    const preamble = "The user explored a different conversation branch before returning here.\nSummary of that exploration:\n\n";
    expect(stripComposed(`${preamble}${BODY}`)).toBe(BODY);
  });

  test("leaves a plain text, and tags inside it, alone", () => {
    const text = "Uses <covers> in a sentence.\n<read-files>\nand more text behind.";
    expect(stripComposed(text)).toBe(text);
    expect(stripComposed("about </covers>")).toBe("about </covers>");
  });

  test("takes out lists that were piled up", () => {
    const list = "\n\n<read-files>\na.ts\n</read-files>";
    expect(stripComposed(BODY + list + list + list)).toBe(BODY);
  });

  test("after ten rounds there is one block of each kind, one first run, and the text has not grown", () => {
    let text = composeSummary(full());
    const length = text.length;
    for (let round = 2; round <= 10; round += 1) {
      text = composeSummary(full({ body: stripComposed(text), previous: text, messages: [user(`again ${round % 10}`)] }));
    }
    for (const tag of [
      "first-run",
      "user-messages",
      "read-files",
      "modified-files",
      "current_state",
      "invoked_skills",
      "agent_summary",
      "covers",
      "keep-going",
    ]) {
      expect(text.split(`<${tag}>`)).toHaveLength(2);
    }
    expect(text).toContain("<first-run>\n[User]: Mend it");
    // Nine short messages of the person came to it, each in its tag.
    expect(text.length).toBeLessThan(length + 9 * "<user-message>\nagain 9\n</user-message>\n".length + 1);
  });

  test("also when the model copies the blocks into its own text", () => {
    const copied = composeSummary(full({ body: composeSummary(full()) }));
    expect(copied).toBe(composeSummary(full()));
  });

  test("gives back any body, even one that is made of our tags", () => {
    const bits = fc.constantFrom(
      "<covers>",
      "</covers>",
      "<read-files>",
      "</read-files>",
      "<first-run>",
      "</first-run>",
      "</summary>",
      "\n",
      "x",
      " ",
      "😀",
    );
    fc.assert(
      fc.property(fc.array(bits, { maxLength: 15 }), (some) => {
        const composed = composeSummary(full({ body: some.join("") }));
        const body = stripComposed(composed);
        // The body is one that nothing more is taken from, and that comes back each time.
        expect(stripComposed(composeSummary(full({ body })))).toBe(body);
        expect(composed).not.toContain("</summary>");
        expect(composed.match(/<covers>\n/g)).toHaveLength(1);
      }),
    );
  });
});
