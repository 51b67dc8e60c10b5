import { BoughError, type Session, type Store, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { ODD_VALUES } from "../../../session-core/test/arguments/odd-values.js";
import * as aiSdk from "../../src/ai-sdk.js";
import * as compaction from "../../src/index.js";
import * as providers from "../../src/providers.js";
import { folder, grown, turns } from "../world/session.js";

interface World {
  readonly store: Store;
  readonly session: Session;
  readonly compactor: compaction.Compactor;
  readonly folder: string;
}

/** A call of a public function with an odd value in place of one argument. */
type Call = (world: World, odd: never) => unknown;

/** The options object as a whole, then each member of it in turn. */
function members(
  name: string,
  call: (world: World, options: never) => unknown,
  given: object,
  names: readonly string[],
): Record<string, Call> {
  const each = names.map(
    (member) => [`${name}.${member}`, (world: World, odd: never) => call(world, { ...given, [member]: odd } as never)] as const,
  );
  return { [name]: call, ...Object.fromEntries(each) };
}

const counter = providers.roughCounter;
const REQUEST = ["systemTokens", "toolTokens", "lastUsage", "tooLarge", "cacheIsCold", "preview", "signal"];
const CHECKPOINT: compaction.Checkpoint = {
  number: 1,
  sessionId: "s",
  entryId: "e",
  title: "t",
  createdAtMs: 0,
  trigger: null,
  tokensBefore: null,
  tokensAfter: null,
  covers: null,
  files: { readFiles: [], modifiedFiles: [] },
  summary: "x",
};
const CALLS: Readonly<Record<string, Call>> = {
  "createCompactor options": (_, options) => compaction.createCompactor(options),
  "createCompactor.session": (_, session) => compaction.createCompactor({ session, contextWindow: 10_000 }),
  ...members(
    "createCompactor",
    ({ session }, options) => compaction.createCompactor({ ...(options as object), session } as never).usage(),
    { contextWindow: 10_000 },
    ["summarizer", "contextWindow", "model", "settings", "hooks", "onEvent", "hostState", "recall", "random", "now", "sleep"],
  ),
  ...members("compactor.prepareRequest", ({ compactor }, input) => compactor.prepareRequest(input), {}, REQUEST),
  ...members("compactor.turnEnded", ({ compactor }, input) => compactor.turnEnded(input), {}, REQUEST),
  ...members("compactor.usage", ({ compactor }, input) => compactor.usage(input), {}, REQUEST),
  ...members("compactor.compact", ({ compactor }, options) => compactor.compact(options), {}, [
    "instructions",
    "keepFrom",
    "when",
    "signal",
  ]),
  "compactor.reportOverflow error": ({ compactor }, error) => compactor.reportOverflow(error),
  ...members("compactor.reportOverflow options", ({ compactor }, options) => compactor.reportOverflow("no overflow", options), {}, [
    "signal",
  ]),
  ...members("compactor.modelChanged", ({ compactor }, change) => compactor.modelChanged(change), { contextWindow: 10_000 }, [
    "model",
    "contextWindow",
    "toolTokens",
    "signal",
  ]),
  ...members("compactor.memoryPressure", ({ compactor }, options) => compactor.memoryPressure(options), {}, ["signal"]),
  "compactor.navigate target": ({ compactor }, target) => compactor.navigate(target),
  ...members("compactor.navigate", ({ compactor }, options) => compactor.navigate("u1", options), {}, [
    "summarize",
    "instructions",
    "replaceInstructions",
    "label",
    "signal",
  ]),
  targetOf: (_, entry) => compaction.targetOf(entry),
  readCheckpoints: (_, directory) => compaction.readCheckpoints(directory),
  "writeCheckpoint directory": (_, directory) =>
    typeof directory === "string" ? undefined : compaction.writeCheckpoint(directory, CHECKPOINT),
  ...members(
    "writeCheckpoint",
    ({ folder }, checkpoint) => compaction.writeCheckpoint(folder, checkpoint),
    CHECKPOINT,
    Object.keys(CHECKPOINT),
  ),
  "syncCheckpoints directory": (_, directory) =>
    typeof directory === "string" ? undefined : compaction.syncCheckpoints(directory, "s", []),
  "syncCheckpoints sessionId": ({ folder }, id) => compaction.syncCheckpoints(folder, id, []),
  "syncCheckpoints checkpoints": ({ folder }, checkpoints) => compaction.syncCheckpoints(folder, "s", checkpoints),
  "listCheckpoints session": (_, session) => compaction.listCheckpoints(session),
  "listCheckpoints leafId": ({ session }, leafId) => compaction.listCheckpoints(session, leafId),
  "recallTools session": (_, session) => compaction.recallTools(session),
  ...members("recallTools", ({ session }, options) => compaction.recallTools(session, options), {}, ["maxChars"]),
  "recallSearch target": (_, target) => compaction.recallSearch(target, { query: "x" }),
  "recallSearch input": ({ session }, input) => compaction.recallSearch(session, input),
  ...members("recallSearch", ({ session }, options) => compaction.recallSearch(session, { query: "x" }, options), {}, [
    "maxChars",
    "includePrivate",
    "seqs",
    "placeOf",
  ]),
  "searchHidden session": (_, session) => compaction.searchHidden(session, { query: "x" }),
  "searchHidden input": ({ session }, input) => compaction.searchHidden(session, input),
  ...members("searchHidden", ({ session }, options) => compaction.searchHidden(session, { query: "x" }, options), {}, ["maxChars"]),
  "recallRead session": (_, session) => compaction.recallRead(session, { from: "u1" }),
  "recallRead input": ({ session }, input) => compaction.recallRead(session, input),
  ...members("recallRead", ({ session }, options) => compaction.recallRead(session, { from: "u1" }, options), {}, [
    "maxChars",
    "includePrivate",
  ]),
  "recallFile session": (_, session) => compaction.recallFile(session, { path: "a.ts" }),
  "recallFile input": ({ session }, input) => compaction.recallFile(session, input),
  ...members("recallFile", ({ session }, options) => compaction.recallFile(session, { path: "a.ts" }, options), {}, ["maxChars"]),
  "recallTools input": async ({ session }, input) => {
    for (const { execute } of compaction.recallTools(session).definitions) await execute(input);
  },
  "blameFile store": (_, store) => compaction.blameFile(store, { paths: ["/a.ts"], text: "" }),
  "blameFile request": ({ store }, request) => compaction.blameFile(store, request),
  ...members("blameFile", ({ store }, request) => compaction.blameFile(store, request), { paths: ["/a.ts"], text: "a" }, [
    "paths",
    "text",
    "elsewhere",
    "renames",
    "untilMs",
    "home",
    "lines",
  ]),
  readSettings: (_, settings) => compaction.readSettings(settings),
  ...members("readSettings", (_, settings) => compaction.readSettings(settings), {}, ["preset", "keep", "trigger", "request"]),
  "aiSdkSummarizer model": (_, model) => aiSdk.aiSdkSummarizer(model),
  "aiSdkSummarizer options": (_, options) => aiSdk.aiSdkSummarizer("m" as never, options),
  "prepareStep compactor": (_, compactor) => aiSdk.prepareStep(compactor),
  "prepareStep options": ({ compactor }, options) => aiSdk.prepareStep(compactor, options),
  "aiSdkRecallTools session": (_, session) => aiSdk.aiSdkRecallTools(session),
  "aiSdkRecallTools options": ({ session }, options) => aiSdk.aiSdkRecallTools(session, options),
  getTitle: (_, summary) => compaction.getTitle(summary),
  removeNulls: (_, input) => compaction.removeNulls(input),
  parseFailure: (_, error) => providers.parseFailure(error),
  readFailureParts: (_, error) => providers.readFailureParts(error),
  findContextWindow: (_, model) => providers.findContextWindow(model),
  tokenizerOf: (_, model) => providers.tokenizerOf(model),
  ...members("extractiveSummarizer", (_, options) => compaction.extractiveSummarizer(options), {}, ["maxChars"]),
  ...members("extractiveSummarizer request", (_, request) => compaction.extractiveSummarizer()(request), { system: "", prompt: "" }, [
    "system",
    "prompt",
    "maxOutputTokens",
    "signal",
    "source",
    "onText",
  ]),
  ...members(
    "openAiCompatibleSummarizer",
    (_, options) => compaction.openAiCompatibleSummarizer(options),
    { baseURL: "http://127.0.0.1:1/v1", model: "m" },
    ["baseURL", "model", "apiKey", "headers", "fetch", "tools"],
  ),
  "remoteSummarizer url": (_, url) => compaction.remoteSummarizer(url),
  ...members("remoteSummarizer", (_, options) => compaction.remoteSummarizer("http://127.0.0.1:1", options), {}, [
    "apiKey",
    "headers",
    "fetch",
  ]),
  loadCounter: (_, tokenizer) => compaction.loadCounter(tokenizer),
  "toolTokens counter": (_, odd) => compaction.toolTokens(odd, []),
  "toolTokens tools": (_, tools) => compaction.toolTokens(counter, tools),
};

async function world(): Promise<World> {
  const { store, session } = await grown(turns(1, 3));
  await session.append(userMessage("once more"));
  const compactor = compaction.createCompactor({ session, contextWindow: 100_000, settings: { tokenizer: "rough" } as never });
  return { store, session, compactor, folder: folder() };
}

async function rawError(call: Call, made: World, odd: unknown): Promise<string | undefined> {
  try {
    await call(made, odd as never);
    return undefined;
  } catch (error) {
    return error instanceof BoughError ? undefined : String(error);
  }
}

describe("with any odd value in place of an argument", () => {
  test.each(Object.entries(CALLS))("%s succeeds or throws an error of ours", async (_, call) => {
    const made = await world();
    const raw: string[] = [];
    for (const [name, odd] of ODD_VALUES) {
      const error = await rawError(call, made, odd);
      if (error !== undefined) raw.push(`${name}: ${error}`);
    }
    expect(raw).toEqual([]);
  });

  test("every function and method that is offered is in the table", () => {
    const named = Object.keys(CALLS).join("\n");
    const functions = Object.entries(compaction).flatMap(([name, value]) =>
      typeof value === "function" && value.length > 0 && !(value.prototype instanceof Error) ? [name] : [],
    );
    expect(functions.filter((name) => !named.includes(name))).toEqual([]);
  });
});

// What untyped code may pass. Ignored, it would compact without the model, or leave a branch without its summary.
test("a misspelled option is refused, with the name that it almost is", async () => {
  const { store, session, compactor } = await world();
  const untyped = (value: unknown) => value as never;
  const summariser = async () => "";
  expect(() => compaction.createCompactor(untyped({ session, contextWindow: 100_000, summariser }))).toThrow("must be spelled summarizer;");
  await expect(compactor.prepareRequest(untyped({ toolTokes: 3000 }))).rejects.toThrow("input.toolTokes must be spelled toolTokens;");
  await expect(compactor.navigate(null, untyped({ sumarize: true }))).rejects.toThrow("options.sumarize must be spelled summarize;");
  await expect(compactor.compact(untyped({ instruction: "the lexer" }))).rejects.toThrow(
    "options.instruction must be spelled instructions;",
  );
  await expect(compaction.blameFile(store, untyped({ paths: ["/a.ts"], text: "a", line: { from: 1, to: 1 } }))).rejects.toThrow(
    "must be spelled lines;",
  );
});
