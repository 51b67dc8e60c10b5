import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as compaction from "@bough/compaction";
import * as core from "@bough/session-core";
import { transform } from "esbuild";
import ts from "typescript";
import { expect, test } from "vitest";

const page = readFileSync(join(import.meta.dirname, "../../../docs/embedding/own-loop.md"), "utf8");
const [, example = ""] = /```ts\n([\s\S]*?)```/.exec(page) ?? [];

test("the loop of docs/embedding/own-loop.md runs unchanged: each tool call is followed by its result", async () => {
  const folder = mkdtempSync(join(tmpdir(), "bough-example-"));
  const before = process.cwd();
  process.chdir(folder);
  try {
    const { code } = await transform(example.replace(/^import (\{[^}]*\}) from "[^"]+";/gm, "const $1 = given;"), { loader: "ts" });
    const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor as new (
      ...code: string[]
    ) => (...given: unknown[]) => Promise<{ path: readonly core.Entry[] }>;
    const { path } = await new AsyncFunction("given", `${code}\nreturn { path };`)({ ...core, ...compaction });
    expect(path.map((entry) => (entry.type === "message" ? entry.message.role : entry.type))).toEqual([
      "user",
      "assistant",
      "toolResult",
      "assistant",
    ]);
    expect(path[2]).toMatchObject({ message: { toolCallId: "call_1", toolName: "read_file", isError: false } });
  } finally {
    process.chdir(before);
    rmSync(folder, { recursive: true, force: true });
  }
});

test("it has no error of types", () => {
  const file = join(import.meta.dirname, "own-loop.example.ts");
  const options: ts.CompilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ["node"],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (path) => path === file || fileExists(path);
  host.readFile = (path) => (path === file ? example : readFile(path));
  host.getSourceFile = (path, version) =>
    path === file ? ts.createSourceFile(path, example, version) : getSourceFile.call(host, path, version);
  const diagnostics = ts.getPreEmitDiagnostics(ts.createProgram([file], options, host));
  expect(diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"))).toEqual([]);
});
