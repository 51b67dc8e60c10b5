import { toAiSdk } from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import type { ModelMessage, ToolSet } from "ai";
import { COMPACTOR_HANDLE } from "../arguments/shapes.js";
import type { Compactor } from "../run/compactor.js";
import type { RequestInput } from "../run/options.js";
import type { PreparedRequest } from "../run/prepare-request.js";
import { toolTokens } from "../tokens/message-tokens.js";
import { roughCounter, type TokenCounter } from "../tokens/token-counter.js";
import { loadAiSdk } from "./load.js";

/** Options of `prepareStep`: those of `compactor.prepareRequest`, and the tools. */
export interface PrepareStepOptions extends RequestInput {
  /** The agent's tools; their definitions are counted once. Not needed with `toolTokens`. */
  readonly tools?: ToolSet | undefined;
  /** Counts the definitions of `tools`. Default: an estimate from the number of characters. */
  readonly counter?: TokenCounter | undefined;
  /** Called with each prepared request, for example to show `use`. */
  readonly onRequest?: ((request: PreparedRequest) => void) | undefined;
}

/** The prompt of a step, which replaces its own: the session's system prompt, if it has one, and its context. */
export interface PreparedStep {
  readonly system?: string;
  readonly messages: ModelMessage[];
}

/**
 * Makes the option `prepareStep` of `generateText`, `streamText` and `ToolLoopAgent`: before each step of a tool loop it
 * calls `compactor.prepareRequest` and replaces the messages by the session's context, so that the loop never exceeds the
 * window, however many steps it has. The steps must be stored as they end: use it together with `recordSteps`.
 *
 * The initial prompt of the call is not sent; messages that are not in the session do not reach the model.
 *
 * @throws {RequestTooLargeError} from the step: the smallest possible request is larger than the window.
 * @example
 * await generateText({ model, tools, prompt, prepareStep: prepareStep(compactor, { tools }), ...recordSteps(session) });
 */
export function prepareStep(compactor: Compactor, options: PrepareStepOptions = {}): () => Promise<PreparedStep> {
  rules.checkArgument("compactor", compactor, COMPACTOR_HANDLE);
  rules.checkArgument("options", options, rules.OBJECT);
  const { tools, counter = roughCounter, onRequest, ...input } = options;
  let counted: Promise<number> | undefined;
  return async () => {
    if (tools !== undefined && input.toolTokens === undefined) counted ??= countToolTokens(tools, counter);
    const request = await compactor.prepareRequest({ ...input, toolTokens: input.toolTokens ?? (await counted) });
    onRequest?.(request);
    return toStep(request);
  };
}

function toStep({ context, continuePrompt }: PreparedRequest): PreparedStep {
  const { messages, ...system } = toAiSdk(context);
  const wish: readonly ModelMessage[] = continuePrompt === null ? [] : [{ role: "user", content: continuePrompt }];
  return { ...system, messages: [...messages, ...wish] };
}

/** The tokens of the definitions of AI SDK tools: name, description and the JSON schema of the input. */
async function countToolTokens(tools: ToolSet, counter: TokenCounter): Promise<number> {
  const { asSchema } = await loadAiSdk();
  const definitions = Object.entries(tools).map(async ([name, { description, inputSchema }]) => ({
    name,
    description,
    parameters: await asSchema(inputSchema).jsonSchema,
  }));
  return toolTokens(counter, await Promise.all(definitions));
}
