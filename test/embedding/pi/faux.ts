import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { AgentHarness } from "@earendil-works/pi-agent-core";

type HarnessOptions = Parameters<(typeof AgentHarness)["create"]>[0];

/** What the scripted provider of pi-ai exports, as far as the tests use it. */
interface PiAi {
  createModels(): HarnessOptions["models"] & { setProvider(provider: unknown): void };
  fauxProvider(options: { models: { id: string; contextWindow?: number }[] }): {
    provider: unknown;
    getModel(): HarnessOptions["model"];
    setResponses(responses: unknown[]): void;
  };
  fauxAssistantMessage(content: unknown): unknown;
  fauxToolCall(name: string, given: Record<string, unknown>, options: { id: string }): unknown;
}

// pi-ai is a dependency of pi-agent-core, not of these tests: it is loaded from where pi-agent-core finds it.
const core = realpathSync(join(import.meta.dirname, "../../node_modules/@earendil-works/pi-agent-core"));
const piAi = (await import(pathToFileURL(join(dirname(core), "pi-ai/dist/index.js")).href)) as PiAi;

/** pi's own scripted model: it gives these answers one after the other. */
export function scriptedModel(answers: readonly unknown[]): Pick<HarnessOptions, "models" | "model"> {
  const faux = piAi.fauxProvider({ models: [{ id: "scripted", contextWindow: 100_000 }] });
  const models = piAi.createModels();
  models.setProvider(faux.provider);
  faux.setResponses([...answers]);
  return { models, model: faux.getModel() };
}

/** An answer of one text. */
export function says(text: string): unknown {
  return piAi.fauxAssistantMessage(text);
}

/** An answer that calls a tool. */
export function calls(name: string, given: Record<string, unknown>, id: string): unknown {
  return piAi.fauxAssistantMessage([piAi.fauxToolCall(name, given, { id })]);
}
