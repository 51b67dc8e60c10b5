import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import * as formats from "@bough/formats";
import * as secrets from "@bough/formats/secrets";
import { transformSync } from "esbuild";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as core from "../src/index.js";

const packages = join(import.meta.dirname, "../..");

/** The names that an example may use: the exports of the packages whose examples these are. */
const bough = { ...core, ...formats, ...secrets };

interface Example {
  readonly place: string;
  readonly code: string;
}

/** The examples in the docstrings of what the package offers: those that need nothing but its exports and a session. */
function examples(): readonly Example[] {
  const files = ["session-core/src", "formats/src"].flatMap((folder) =>
    readdirSync(join(packages, folder), { recursive: true, encoding: "utf8" }).map((file) => join(packages, folder, file)),
  );
  return files
    .filter((file) => file.endsWith(".ts") && !file.includes("sqlite"))
    .flatMap(examplesIn)
    .filter(({ code }) => isOfPublicNames(code));
}

function examplesIn(path: string): readonly Example[] {
  const blocks = [...readFileSync(path, "utf8").matchAll(/\* @example\n((?:\s*\* ?.*\n)*?)\s*\*\//g)];
  return blocks.map(([, lines = ""], at) => ({
    place: `${relative(packages, path)}, example ${at + 1}`,
    code: lines.replace(/^\s*\* ?/gm, ""),
  }));
}

/** The clients of providers that examples hand their messages to: the model is the one thing that is not real here. */
const answer = async (): Promise<object> => ({});
const MODELS = {
  openai: {
    chat: { completions: { create: async () => ({ choices: [{ message: { content: "hi" } }] }) } },
    responses: { create: async () => ({ output: [] }) },
  },
  anthropic: { messages: { create: async () => ({ content: [] }) } },
  generateText: answer,
  streamText: answer,
  model: {},
  tools: [],
};

const PROVIDED = ["store", "session", "context", "entry"];

function isOfPublicNames(code: string): boolean {
  const called = [...code.matchAll(/(?<![.\w])([a-z]\w*)(?:<[^(]*>)?\(/g)].map(([, name = ""]) => name).filter((name) => name !== "catch");
  return called.every((name) => name in bough || name in MODELS) && !code.startsWith("{") && /\b(session|store|context)\b/.test(code);
}

describe("each example of a docstring", () => {
  const home = process.cwd();
  let folder = "";

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "bough-examples-"));
    process.chdir(folder);
  });

  afterEach(() => {
    process.chdir(home);
    rmSync(folder, { recursive: true, force: true });
  });

  test("is found", () => {
    expect(examples().length).toBeGreaterThan(10);
  });

  test.each(examples())("runs: $place", async ({ code }) => {
    const store = await bough.openStore({ path: "world.db" });
    const session = await store.createSession({ id: "world" });
    await session.append(bough.userMessage("Hello"));
    mkdirSync("sessions");
    for await (const line of bough.exportBough(session)) writeFileSync("sessions/one.jsonl", line, { flag: "a" });
    const world = { ...MODELS, store, session, context: await session.context(), entry: { ...bough.userMessage("again"), id: "again" } };
    await expect(run(transformSync(code, { loader: "ts" }).code, world)).resolves.toBeUndefined();
    await store.close();
  });
});

async function run(code: string, world: Record<string, unknown>): Promise<unknown> {
  const scope = { ...bough, ...world };
  const names = Object.keys(scope).filter((name) => !PROVIDED.includes(name) || !new RegExp(`const ${name}\\b`).test(code));
  const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor as new (
    ...code: string[]
  ) => (...given: unknown[]) => Promise<unknown>;
  return new AsyncFunction(...names, code)(...names.map((name) => scope[name as keyof typeof scope]));
}
