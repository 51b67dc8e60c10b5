import { describe, expect, test } from "vitest";
import { SummaryRejectedError } from "../../src/errors/summarizer-errors.js";
import { parseSummaryReply } from "../../src/summary/summarizer-client.js";

const free = (text: string) => parseSummaryReply(text, { needsTag: false });
const inTag = (text: string) => parseSummaryReply(text, { needsTag: true });

function reasonOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof SummaryRejectedError) return error.reason;
    throw error;
  }
  return "accepted";
}

describe("reading a reply that needs <summary>", () => {
  test("takes its content, without the analysis and the text around it", () => {
    const text = "<analysis>\nI think of a <summary> here.\n</analysis>\n\nHere it is:\n<summary>\n1. Overview\n</summary>\nAnything else?";
    expect(inTag(text).body).toBe("1. Overview");
  });

  test("reads to the end where the close tag is missing", () => {
    expect(inTag("<summary>\n1. Overview\n2. More").body).toBe("1. Overview\n2. More");
  });

  test("reads on behind an analysis that never ends", () => {
    expect(inTag("<analysis>\nso I think\n<summary>\nDone\n</summary>").body).toBe("Done");
  });

  test("takes the last closing tag, because the summary may mention one", () => {
    expect(inTag("<summary>\nClosed `</summary>` too early.\nMended.\n</summary>").body).toBe("Closed `</summary>` too early.\nMended.");
  });

  test("refuses a reply without one", () => {
    expect(reasonOf(() => inTag("## Goal\nno tag"))).toBe("no-summary-tag");
  });

  test.each(["<summary></summary>", "<summary>\n\n</summary>", "<summary>```\n```</summary>"])("refuses an empty one: %j", (text) => {
    expect(reasonOf(() => inTag(text))).toBe("empty");
  });
});

describe("reading a reply without a tag", () => {
  test("takes it whole", () => {
    expect(free("## Goal\nMend it\n").body).toBe("## Goal\nMend it");
  });

  test("unwraps one that is in <summary> as a whole", () => {
    expect(free("<summary>\n## Goal\nMend it\n</summary>").body).toBe("## Goal\nMend it");
  });

  test("ignores a <summary> that the text mentions", () => {
    const text = "## Goal\nParse this:\n<summary>x</summary>";
    expect(free(text).body).toBe(text);
  });

  test("drops a code fence around the whole, and no other", () => {
    expect(free("```markdown\n## Goal\nMend it\n```").body).toBe("## Goal\nMend it");
    expect(free("```md\n## Goal\n```ts\ncode\n```\nend\n```").body).toBe("## Goal\n```ts\ncode\n```\nend");
    const two = "```ts\na\n```\nand\n```ts\nb\n```";
    expect(free(two).body).toBe(two);
  });

  test("drops control characters", () => {
    expect(free("a\u001b[1mb\u0000c").body).toBe("abc");
  });

  test("refuses one that is only an analysis", () => {
    expect(reasonOf(() => free("<analysis>\nhm"))).toBe("empty");
  });
});

describe("the title of a checkpoint", () => {
  test("is taken out of the body", () => {
    const text = "<overview>\nAll\n</overview>\n\n<checkpoint_title>\nMending  the\nparser\n</checkpoint_title>";
    expect(free(text)).toEqual({ body: "<overview>\nAll\n</overview>", title: "Mending the parser" });
  });

  test("ends with its line where the close tag is missing", () => {
    expect(free("<checkpoint_title>A title\nBody")).toEqual({ body: "Body", title: "A title" });
  });

  test("is null if it is empty or missing", () => {
    expect(free("Body<checkpoint_title> </checkpoint_title>").title).toBeNull();
    expect(free("Body").title).toBeNull();
  });

  test("has at most 80 characters", () => {
    expect(free(`Body<checkpoint_title>${"a".repeat(200)}</checkpoint_title>`).title).toHaveLength(80);
  });
});
