import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Agent as EarlierAgent } from "@earendil-works/pi-agent-core";
import { Agent, type AgentMessage, type AgentOptions, type AgentTool } from "pi-agent-core-1";

/** A request as the scripted model gets it. */
export interface Request {
  readonly messages: readonly AgentMessage[];
}

/** An answer of the scripted model, or what makes it. */
export type Answer = object | ((request: Request) => object);

/** What the scripted provider of pi-ai exports, as far as the tests use it. */
interface PiAi {
  createModels(): { setProvider(provider: unknown): void; streamSimple: AgentOptions["streamFn"] };
  fauxProvider(options: { api: string; models: { id: string; contextWindow?: number }[] }): {
    provider: unknown;
    getModel(): NonNullable<NonNullable<AgentOptions["initialState"]>["model"]>;
    setResponses(responses: readonly Answer[]): void;
  };
  fauxAssistantMessage(content: unknown): object;
  fauxText(text: string): unknown;
  fauxThinking(text: string): unknown;
  fauxToolCall(name: string, given: Record<string, unknown>, options: { id: string }): unknown;
}

/** pi-ai, which is a dependency of pi-agent-core and not of these tests, from where that package finds it. */
async function loadPiAi(name: string): Promise<PiAi> {
  const core = realpathSync(join(import.meta.dirname, "../../node_modules", name));
  const scope = core.includes("@earendil-works/pi-agent-core") ? dirname(core) : join(dirname(core), "@earendil-works");
  return (await import(pathToFileURL(join(scope, "pi-ai/dist/index.js")).href)) as PiAi;
}

const piAi = await loadPiAi("pi-agent-core-1");

export const readTool: AgentTool = {
  name: "read",
  label: "read",
  description: "Reads a file.",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  execute: async () => ({ content: [{ type: "text", text: "const tab = 8;" }], details: undefined }),
};

/** An agent of pi 1.6 with pi's own scripted model, and the requests that the model got. */
export function scriptedAgent(answers: readonly Answer[], options: Omit<AgentOptions, "streamFn"> = {}, model = "scripted") {
  const requests: Request[] = [];
  const faux = piAi.fauxProvider({ api: "scripted", models: [{ id: model, contextWindow: 100_000 }] });
  const models = piAi.createModels();
  models.setProvider(faux.provider);
  faux.setResponses(
    answers.map((answer) => (request: Request) => {
      requests.push(structuredClone(request));
      return typeof answer === "function" ? answer(request) : answer;
    }),
  );
  const initialState = { systemPrompt: "Be brief.", model: faux.getModel(), tools: [readTool], ...options.initialState };
  const agent = new Agent({ ...options, initialState, streamFn: models.streamSimple.bind(models) });
  return { agent, requests };
}

/** An agent of pi 0.87.1, whose model says one text. */
export async function earlierAgent(text: string): Promise<EarlierAgent> {
  const earlier = await loadPiAi("@earendil-works/pi-agent-core");
  const faux = earlier.fauxProvider({ api: "scripted", models: [{ id: "scripted" }] });
  const models = earlier.createModels();
  models.setProvider(faux.provider);
  faux.setResponses([earlier.fauxAssistantMessage(text)]);
  const options = { initialState: { model: faux.getModel() }, streamFn: models.streamSimple.bind(models) };
  return new EarlierAgent(options as unknown as ConstructorParameters<typeof EarlierAgent>[0]);
}

/** An answer with signed thinking before its text. */
export function thinks(text: string): object {
  return piAi.fauxAssistantMessage([{ type: "thinking", thinking: "Hm.", thinkingSignature: "c2lnbmVk" }, piAi.fauxText(text)]);
}

/** An answer of one text. */
export function says(text: string): object {
  return piAi.fauxAssistantMessage(text);
}

/** An answer that thinks and calls `read`. */
export function reads(path: string, id: string): object {
  return piAi.fauxAssistantMessage([
    piAi.fauxThinking("Look at it."),
    piAi.fauxText("I look."),
    piAi.fauxToolCall("read", { path }, { id }),
  ]);
}
