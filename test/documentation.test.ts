import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as compaction from "@bough/compaction";
import * as formats from "@bough/formats";
import * as bough from "@bough/session-core";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..");

/** The first block of TypeScript in a document. */
function firstExample(document: string): string {
  return /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, document), "utf8"))?.[1] ?? "";
}

/** Runs an example unchanged in its own folder; returns its variables. */
async function run(example: string, names: readonly string[]): Promise<Record<string, unknown>> {
  const folder = mkdtempSync(join(tmpdir(), "bough-example-"));
  const before = process.cwd();
  process.chdir(folder);
  try {
    const body = example.replace(/^import \{([^}]*)\} from "@bough\/[\w-]+";/gm, "const {$1} = bough;");
    const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor as new (
      ...code: string[]
    ) => (...given: unknown[]) => Promise<never>;
    return await new AsyncFunction("bough", `${body}\nreturn { ${names.join(", ")} };`)({ ...bough, ...formats, ...compaction });
  } finally {
    process.chdir(before);
    rmSync(folder, { recursive: true, force: true });
  }
}

describe.each(["README.md", "packages/session-core/README.md"])("the first example of %s", (document) => {
  test("runs unchanged, and the request contains the question", async () => {
    const { messages } = await run(firstExample(document), ["messages"]);
    expect(messages).toEqual([{ role: "user", content: [{ type: "text", text: "Why does the parser fail on tabs?" }] }]);
  });

  test("has ten lines or fewer", () => {
    expect(firstExample(document).trim().split("\n").length).toBeLessThanOrEqual(10);
  });
});

describe("the first example of packages/compaction/README.md", () => {
  test("runs unchanged, and the request contains the question", async () => {
    const { context, use } = await run(firstExample("packages/compaction/README.md"), ["context", "use"]);
    expect(context).toMatchObject({ messages: [{ role: "user" }] });
    expect(use).toMatchObject({ windowTokens: 200_000, source: "counted" });
  });
});

describe("docs/schema.md", () => {
  test("is what a new store looks like", async () => {
    const { schemaPage } = (await import(join(root, ".ci/schema.mjs"))) as { schemaPage: () => Promise<string> };
    expect(readFileSync(join(root, "docs/schema.md"), "utf8")).toBe(await schemaPage());
  });
});

const hasPython = spawnSync("python3", ["-c", "import sqlite3, zlib"]).status === 0;

describe("the Python example of docs/schema.md", () => {
  test.skipIf(!hasPython)("reads the payloads of a session out of rows and blocks", async () => {
    const folder = mkdtempSync(join(tmpdir(), "bough-python-"));
    try {
      const path = join(folder, "sessions.db");
      const store = await bough.openStore({ path });
      const session = await store.createSession({ id: "s" });
      const append = async (text: string) => session.append(bough.userMessage(text));
      for (const text of ["packed", "gepäckt 📦", "packed too"]) await append(text);
      await store.pack();
      await append("in a row");
      await store.close();
      const example = /```python\n([\s\S]*?)```/.exec(readFileSync(join(root, "docs/schema.md"), "utf8"))?.[1] ?? "";
      const program = `${example}\nprint(json.dumps(payloads(${JSON.stringify(path)}, "s")))`;
      const { stdout, stderr } = spawnSync("python3", ["-c", program], { encoding: "utf8" });
      expect(stderr).toBe("");
      const texts = Object.values(JSON.parse(stdout) as Record<string, { message: { content: string } }>);
      expect(texts.map(({ message }) => message.content)).toEqual(["packed", "gepäckt 📦", "packed too", "in a row"]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe("docs/benchmarks.md", () => {
  const page = readFileSync(join(root, "docs/benchmarks.md"), "utf8");

  test("is what the benchmark makes of docs/benchmarks.json", async () => {
    const { benchmarkPage } = (await import(join(root, "test/bench/document.mjs"))) as { benchmarkPage: (document: unknown) => string };
    expect(page).toBe(benchmarkPage(JSON.parse(readFileSync(join(root, "docs/benchmarks.json"), "utf8"))));
  });

  test("has one table of forty rows or fewer, besides those of entries, a locked store and a server, and a reason for each missed row", () => {
    const [own = ""] = page.split(/^## (?:What an entry costs in an import|A locked store|A store on PostgreSQL)$/m);
    const lines = own.split("\n").filter((line) => line.startsWith("|"));
    expect(lines.length - 2).toBeLessThanOrEqual(40);
    expect(lines.filter((line) => line.startsWith("| ---"))).toHaveLength(1);
    expect(page).not.toContain("Not explained yet");
  });
});

describe("README.md", () => {
  const page = readFileSync(join(root, "README.md"), "utf8");
  const pageOf = (name: string) => readFileSync(join(root, "docs", name), "utf8");

  test("quotes the figures of docs/benchmarks.json and docs/recall-exam.md", async () => {
    const { withFigures } = (await import(join(root, "test/bench/readme.mjs"))) as {
      withFigures: (readme: string, document: unknown, exam: string) => string;
    };
    expect(page).toBe(withFigures(page, JSON.parse(pageOf("benchmarks.json")), pageOf("recall-exam.md")));
  });

  test("has 180 lines or fewer, and shows its picture in both schemes", () => {
    expect(page.split("\n").length).toBeLessThanOrEqual(180);
    for (const theme of ["light", "dark"]) expect(pageOf(`tree-${theme}.svg`)).toMatch(/^<svg /);
  });
});

describe("links between the pages", () => {
  const pages = ["README.md", "CONTRIBUTING.md", ...filesBelow("docs", ".md").map((path) => path.slice(root.length + 1))];

  test.each(pages)("%s links to files that are there", (page) => {
    const text = readFileSync(join(root, page), "utf8");
    const targets = [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)\s#]+)(?:#[^)]*)?\)|(?:src|srcset)="([^"]+)"/g)].map(
      ([, link, source]) => link ?? source ?? "",
    );
    expect(targets.filter((target) => !existsSync(join(root, page, "..", target)))).toEqual([]);
  });

  test("docs/README.md names every page", () => {
    const index = readFileSync(join(root, "docs/README.md"), "utf8");
    const named = pages.filter((page) => page.startsWith("docs/") && !page.startsWith("docs/api/") && page !== "docs/README.md");
    expect(named.filter((page) => !index.includes(`(${page.slice("docs/".length)}`))).toEqual([]);
  });
});

/** Every file below a folder whose name ends so. */
function filesBelow(folder: string, ending: string): readonly string[] {
  // By entries, because a list of names follows links, and the packages of a workspace link to each other.
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter(({ name, parentPath }) => name.endsWith(ending) && !parentPath.includes("node_modules"))
    .map(({ name, parentPath }) => join(parentPath, name));
}

describe("docs/compaction.md", () => {
  const page = readFileSync(join(root, "docs/compaction.md"), "utf8");

  test("has the settings as their schema has them", async () => {
    const { settingsPage } = (await import(join(root, ".ci/settings.mjs"))) as { settingsPage: () => Promise<string> };
    expect(page).toBe(await settingsPage());
  });

  test("names a test for each behaviour, and every one of them is there", () => {
    const rows = page.split("\n").filter((line) => /^\| (\d|seed)/.test(line));
    const named = rows.flatMap((row) => [...(row.split("|").at(-2) ?? "").matchAll(/`([\w/-]+)`/g)].map(([, name]) => name ?? ""));
    // Names of other packages begin with the package.
    const fileOf = (name: string) => join(root, "packages", /^\w+\/test\//.test(name) ? name : `compaction/test/${name}`);
    const endings = [".test.ts", ".slow.test.ts", ".property.test.ts"];
    const missing = [...new Set(named)].filter((name) => !endings.some((ending) => existsSync(`${fileOf(name)}${ending}`)));
    expect(missing).toEqual([]);
    expect(rows.length).toBeGreaterThan(100);
  });

  test("names only settings that there are", () => {
    const schema = JSON.stringify(compaction.settingsJsonSchema());
    const groups = Object.keys(compaction.readSettings()).join("|");
    const named = [...page.matchAll(new RegExp(`\`(?:${groups})\\.(\\w+)`, "g"))].map(([, name]) => name ?? "");
    expect([...new Set(named)].filter((name) => !schema.includes(`"${name}":`))).toEqual([]);
  });
});

describe("docs/errors.md", () => {
  const page = readFileSync(join(root, "docs/errors.md"), "utf8");

  test("has the errors as their classes have them", async () => {
    const { errorsPage } = (await import(join(root, ".ci/errors.mjs"))) as { errorsPage: () => string };
    expect(page).toBe(errorsPage());
  });

  test("has every error that a host can import", () => {
    const errors = [bough, formats, compaction].flatMap((library) =>
      Object.entries(library).flatMap(([name, value]) =>
        typeof value === "function" && value.prototype instanceof bough.BoughError ? [name] : [],
      ),
    );
    expect(errors.length).toBeGreaterThan(50);
    expect(errors.filter((name) => !page.includes(`| \`${name}\` |`))).toEqual([]);
  });

  test("names only codes that there are", () => {
    const [handled = "", all = ""] = page.split("## All errors");
    const codes = new Set([...all.matchAll(/^\| `([A-Z_]+)`/gm)].map(([, code]) => code));
    const named = [...handled.matchAll(/`([A-Z]+_[A-Z_]+)`/g)].map(([, code]) => code);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((code) => !codes.has(code))).toEqual([]);
  });
});

test("the README of a library, or a page of the docs, names every function of its entry", () => {
  const pages = ["docs", "docs/embedding", ...["session-core", "formats", "compaction", "adapters"].map((name) => `packages/${name}`)];
  const texts = pages.flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((file) => file.endsWith(".md"))
      .map((file) => join(folder, file)),
  );
  const named = new Set(texts.flatMap((file) => readFileSync(join(root, file), "utf8").match(/\w+/g) ?? []));
  const entries = readdirSync(join(root, "docs/api")).filter((report) =>
    /^(?:session-core|formats|compaction|adapters-[\w-]+)\.api\.md$/.test(report),
  );
  const functions = entries.flatMap((report) =>
    [...readFileSync(join(root, "docs/api", report), "utf8").matchAll(/^export (?:abstract )?(?:class|const|function) (\w+)/gm)].map(
      ([, name]) => name ?? "",
    ),
  );
  expect(functions.length).toBeGreaterThan(150);
  expect(functions.filter((name) => !named.has(name))).toEqual([]);
});

describe("docs/regressions.md", () => {
  const page = readFileSync(join(root, "docs/regressions.md"), "utf8");

  test("answers every number from R1 to R196", () => {
    const numbers = [...page.matchAll(/^- \*\*R(\d+)\.\*\*/gm)].map(([, number]) => Number(number));
    expect(numbers).toEqual(Array.from({ length: 196 }, (_one, at) => at + 1));
  });

  test("quotes only tests that there are", () => {
    const tests = ["packages", "test"].flatMap((folder) => filesBelow(folder, ".test.ts")).map((path) => readFileSync(path, "utf8"));
    const contracts = filesBelow("test", "contract.ts").map((path) => readFileSync(path, "utf8"));
    const all = [...tests, ...contracts].join("\n").replaceAll("\\", "");
    const quoted = page
      .split("\n")
      .flatMap((line) => line.split(" **Here:** ").slice(1))
      .flatMap((here) => [...here.matchAll(/"([^"]+)"/g)].map(([, name]) => name ?? ""));
    expect(quoted.filter((name) => !all.includes(name))).toEqual([]);
  });
});

test("no page holds the marks of a merge conflict", () => {
  const pages = [".", "docs", ...["session-core", "compaction", "adapters", "cli"].map((name) => `packages/${name}`)].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((file) => file.endsWith(".md"))
      .map((file) => join(folder, file)),
  );
  expect(pages.filter((page) => /^(<{7}|={7}|>{7})( |$)/m.test(readFileSync(join(root, page), "utf8")))).toEqual([]);
});
