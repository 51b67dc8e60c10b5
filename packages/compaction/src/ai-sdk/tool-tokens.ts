import type { ToolSet } from "ai";
import { toolTokens } from "../tokens/message-tokens.js";
import type { TokenCounter } from "../tokens/token-counter.js";
import { loadAiSdk } from "./load.js";

/** The tokens of the definitions of AI SDK tools: name, description and the JSON schema of the input. */
export async function aiSdkToolTokens(tools: ToolSet, counter: TokenCounter): Promise<number> {
  const { asSchema } = await loadAiSdk();
  const definitions = Object.entries(tools).map(async ([name, { description, inputSchema }]) => ({
    name,
    description,
    parameters: await asSchema(inputSchema).jsonSchema,
  }));
  return toolTokens(counter, await Promise.all(definitions));
}
