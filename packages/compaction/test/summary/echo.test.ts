import type { ContextMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { BRANCH, FORMS, type Form, TURN_PREFIX } from "../../src/summary/prompt-texts.js";
import { summarize } from "../../src/summary/summarize.js";
import { conversation, items, job, scripted, user } from "./job.js";

const FILES = ["src/lexer.ts", "src/tabs.ts", "src/spaces.ts", "src/lines.ts"];

/** Work on four files, and talk besides. */
const WORK: readonly ContextMessage[] = [
  user("Mend the lexer. Never touch src/parser.ts."),
  ...FILES.map((path, at): ContextMessage => {
    const call = { type: "toolCall", id: `c${at}`, name: "edit", arguments: { path } } as const;
    return { role: "assistant", content: [call] };
  }),
  ...conversation(8),
];

/** What a model may write: the form's headings, numbers and tags, and under each one short line that is true. */
function filled({ sections }: Form): string {
  return sections
    .split("\n")
    .map((line) => (/^\s*$|^#|^<|^\d+\. [^:]+:$/.test(line) ? line : "- src/lexer.ts"))
    .join("\n");
}

const history = { plan: { summarize: items(WORK), prefix: [] } };
const CASES: readonly (readonly [string, Form, Parameters<typeof job>[0], Parameters<typeof job>[1]])[] = [
  ...(["structured", "handoff", "checkpoint", "working-set"] as const).map(
    (prompt) => [prompt, FORMS[prompt], history, { summary: { prompt } }] as const,
  ),
  ["of the start of a turn", TURN_PREFIX, { plan: { summarize: [], prefix: items(WORK) } }, {}],
  ["of a branch", BRANCH, { ...history, kind: "branch" }, {}],
];

describe.each(CASES)("an answer in the form %s", (_name, form, given, settings) => {
  test("whose sections have one short true line each is a summary, though most of its lines are the form's headings", async () => {
    const { summarizer } = scripted(() => filled(form));
    const written = await summarize(job({ ...given, candidates: [summarizer] }, settings));
    expect(written).toMatchObject({ method: "normal", failures: [], calls: 1 });
    expect(written.body).toContain("src/lexer.ts");
  });

  test("that repeats the form and states results is a summary too", async () => {
    const { summarizer } = scripted(() => form.sections.replace(/\n(<\/summary>)?$|$/, `\nThe work was on ${FILES.join(", ")}.\n$1`));
    const written = await summarize(job({ ...given, candidates: [summarizer] }, settings));
    expect(written).toMatchObject({ method: "normal", failures: [] });
  });

  test("that only repeats the form is replaced by the extract", async () => {
    const { summarizer } = scripted(() => form.sections);
    const written = await summarize(job({ ...given, candidates: [summarizer] }, settings));
    expect(written).toMatchObject({ method: "extract", failures: expect.arrayContaining([expect.objectContaining({ reason: "echo" })]) });
  });
});
