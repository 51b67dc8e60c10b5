import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openModelServer, toolCall } from "../packages/compaction/test/model/model-server.js";

// The AI SDK is an optional peer in two versions: the package as it is published, in a project with 6, with 7, and without.
const root = join(import.meta.dirname, "..");
const compaction = join(root, "packages/compaction");

let folder = "";

function link(name: string, from: string): void {
  const to = join(folder, "node_modules", name);
  mkdirSync(dirname(to), { recursive: true });
  rmSync(to, { force: true });
  symlinkSync(realpathSync(from), to, "junction");
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "bough-ai-sdk-"));
  for (const name of ["compaction", "adapters"])
    for (const file of ["dist", "package.json"])
      cpSync(join(root, "packages", name, file), join(folder, "node_modules/@bough", name, file), { recursive: true });
  for (const name of ["session-core", "formats"]) link(`@bough/${name}`, join(root, "packages", name));
  link("zod", join(root, "packages/session-core/node_modules/zod"));
  link("@ai-sdk/openai-compatible", join(compaction, "node_modules/@ai-sdk/openai-compatible"));
  link("@types/node", join(root, "node_modules/@types/node"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Uses version `ai` of the SDK; undefined: none. */
function withSdk(ai: string | undefined): void {
  rmSync(join(folder, "node_modules/ai"), { recursive: true, force: true });
  if (ai !== undefined) link("ai", join(compaction, "node_modules", ai));
}

const STRICT: ts.CompilerOptions = {
  noEmit: true,
  strict: true,
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  types: ["node"],
};

/**
 * What the checker says of a program that uses the library's declarations. `checked`: of all declarations of Bough that it loads too, and of no
 * others, which take three times as long.
 */
function typeErrors(source: string, { checked = false } = {}): string {
  const path = join(folder, "program.ts");
  writeFileSync(path, source);
  const program = ts.createProgram([path], { ...STRICT, typeRoots: [join(folder, "node_modules/@types")], skipLibCheck: !checked });
  const own = program.getSourceFiles().filter(({ fileName }) => !/\/node_modules\/(?!@bough\/)/.test(fileName));
  const found = [...program.getOptionsDiagnostics(), ...own.flatMap((file) => ts.getPreEmitDiagnostics(program, file))];
  return ts.formatDiagnostics(found, { getCurrentDirectory: () => folder, getCanonicalFileName: (name) => name, getNewLine: () => "\n" });
}

const PROGRAM = `
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { openStore, userMessage } from "@bough/session-core";
import { aiSdkRecallTools, aiSdkSummarizer } from "@bough/compaction/ai-sdk";
const provider = createOpenAICompatible({ name: "local", baseURL: process.argv[2] ?? "" });
const summarizer = aiSdkSummarizer(provider("m1"));
const { text } = await summarizer({ system: "You summarise.", prompt: "Say it shortly." });
const store = await openStore({ path: ":memory:" });
const session = await store.createSession();
await session.append(userMessage("hello"));
const tools = await aiSdkRecallTools(session);
console.log(JSON.stringify({ text, tools: Object.keys(tools) }));
await store.close();
`;

const LOOP = `
import { isDeepStrictEqual } from "node:util";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { openStore, userMessage } from "@bough/session-core";
import { fromUiMessages, recordSteps, recordStream, toAiSdk, toUiMessages } from "@bough/adapters/ai-sdk";
import { generateText, stepCountIs, streamText, tool, validateUIMessages } from "ai";
import { z } from "zod";
const model = createOpenAICompatible({ name: "local", baseURL: process.argv[2] ?? "", includeUsage: true })("m1");
const bash = tool({ inputSchema: z.looseObject({}), execute: async () => "3 lines" });
const options = { model, tools: { bash }, stopWhen: stepCountIs(3) };
const store = await openStore({ path: ":memory:" });
const session = await store.createSession();
const ask = async (text) => { await session.append(userMessage(text)); return { ...options, ...toAiSdk(await session.context()) }; };
const recorder = recordSteps(session);
await generateText({ ...(await ask("one")), ...recorder });
await recorder.done();
const streamed = recordSteps(session);
await streamText({ ...(await ask("two")), ...streamed }).consumeStream();
await streamed.done();
for await (const _ of recordStream(session, streamText(await ask("three")).fullStream));
const path = await session.path();
const page = await validateUIMessages({ messages: toUiMessages(path) });
const copy = await store.createSession();
await copy.write(fromUiMessages(page).map((entry) => ({ kind: "entry", entry })));
const texts = path.flatMap(({ message }) => message.role === "assistant" ? message.content.map((block) => block.text ?? block.name) : [message.role]);
const usage = path.every(({ message }) => message.role !== "assistant" || message.content[0].type !== "text" || message.usage.output > 0);
const same = isDeepStrictEqual(toUiMessages(await copy.path()), page);
console.log(JSON.stringify({ texts, usage, same }));
await store.close();
`;

/** What a program prints that talks to the server. */
async function printedBy(program: string, baseURL: string): Promise<unknown> {
  writeFileSync(join(folder, "program.mjs"), program);
  const child = spawn(process.execPath, ["program.mjs", baseURL], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  for await (const piece of child.stdout) printed += String(piece);
  return JSON.parse(printed);
}

describe.each(["ai", "ai-7"])("with the AI SDK as %s", (ai) => {
  test("a model streams a summary, and the recall tools are tools of the SDK", async () => {
    withSdk(ai);
    const server = await openModelServer();
    try {
      server.reply("A short summary.");
      const tools = ["recall_search", "recall_describe", "recall_expand", "recall_file"];
      expect(await printedBy(PROGRAM, server.baseURL)).toEqual({ text: "A short summary.", tools });
    } finally {
      await server.close();
    }
  });

  test("calls are recorded, and a page of the SDK takes the messages and gives them back", async () => {
    withSdk(ai);
    const server = await openModelServer();
    try {
      server.reply(toolCall(), "One.", toolCall(), "Two.", "Three.");
      const said = ["user", "bash", "toolResult", "One.", "user", "bash", "toolResult", "Two.", "user", "Three."];
      expect(await printedBy(LOOP, server.baseURL)).toEqual({ texts: said, usage: true, same: true });
    } finally {
      await server.close();
    }
  });
});

describe("the types", () => {
  test("need no AI SDK", () => {
    withSdk(undefined);
    expect(existsSync(join(folder, "node_modules/ai"))).toBe(false);
    const right = 'import { createCompactor } from "@bough/compaction";\nexport const use = createCompactor;\n';
    expect(typeErrors(right, { checked: true })).toBe("");
  });

  test("are those of the SDK where it is there", () => {
    withSdk("ai");
    const wrong = 'import { aiSdkSummarizer } from "@bough/compaction/ai-sdk";\nexport const use = aiSdkSummarizer(5);\n';
    expect(typeErrors(wrong)).toMatch(/program\.ts\(2,.*TS2345/);
  });
});
