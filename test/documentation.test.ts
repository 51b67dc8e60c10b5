import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as bough from "@bough/session-core";
import { describe, expect, test } from "vitest";

const root = new URL("..", import.meta.url).pathname;

/** The first block of TypeScript in a document. */
function firstExample(document: string): string {
  return /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, document), "utf8"))?.[1] ?? "";
}

/** Runs an example as it stands, in a folder of its own; gives back what it declared. */
async function run(example: string, names: readonly string[]): Promise<Record<string, unknown>> {
  const folder = mkdtempSync(join(tmpdir(), "bough-example-"));
  const before = process.cwd();
  process.chdir(folder);
  try {
    const body = example.replace(/^import \{([^}]*)\} from "@bough\/session-core";/m, "const {$1} = bough;");
    const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor as new (
      ...code: string[]
    ) => (...given: unknown[]) => Promise<never>;
    return await new AsyncFunction("bough", `${body}\nreturn { ${names.join(", ")} };`)(bough);
  } finally {
    process.chdir(before);
    rmSync(folder, { recursive: true, force: true });
  }
}

describe.each(["README.md", "packages/session-core/README.md"])("the first example of %s", (document) => {
  test("runs as it stands, and the model gets the question", async () => {
    const { messages } = await run(firstExample(document), ["messages"]);
    expect(messages).toEqual([{ role: "user", content: [{ type: "text", text: "Why does the parser fail on tabs?" }] }]);
  });

  test("has ten lines or fewer", () => {
    expect(firstExample(document).trim().split("\n").length).toBeLessThanOrEqual(10);
  });
});

describe("docs/schema.md", () => {
  test("is what a new store looks like", async () => {
    const { schemaPage } = (await import(join(root, ".ci/schema.mjs"))) as { schemaPage: () => Promise<string> };
    expect(readFileSync(join(root, "docs/schema.md"), "utf8")).toBe(await schemaPage());
  });
});
