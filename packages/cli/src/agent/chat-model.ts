import type { LanguageModel } from "ai";
import { windowOf } from "../compacting/model-windows.js";
import { DEFAULT_WINDOW } from "../compacting/window-choice.js";
import type { Config, ProviderKind } from "../config/schema.js";
import type { Io } from "../terminal/io.js";
import { type ChatOptions, type EndpointChoice, endpointChoice } from "./endpoint-choice.js";

/** A model that answers. */
export interface ChatModel {
  /** As its server names it. */
  readonly name: string;
  readonly provider: ProviderKind;
  /** Its window, in tokens: as given, as the table has it, or 200,000. */
  readonly windowTokens: number;
  /** Never to be shown or stored: keys, and passwords of addresses. */
  readonly secrets: readonly string[];
  /** The model for the AI SDK, which is loaded at the first call and kept. */
  readonly languageModel: () => Promise<LanguageModel>;
}

/**
 * The model that options, environment and config name; null: none, the shell is a notebook. Costs nothing until the
 * model is asked; see `endpointChoice` for who gets which key.
 *
 * @throws {UsageError} it is named only in part.
 * @example
 * const model = chatModel(io.env, config, { model: "qwen3-coder", baseUrl: "http://127.0.0.1:11434/v1" });
 */
export function chatModel(env: Io["env"], config: Config, options: ChatOptions): ChatModel | null {
  const choice = endpointChoice(env, config, options);
  if (choice === null) return null;
  let loading: Promise<LanguageModel> | undefined;
  return {
    name: choice.name,
    provider: choice.provider,
    windowTokens: options.window ?? config.window ?? windowOf(choice.name) ?? DEFAULT_WINDOW,
    secrets: secretsOf(choice),
    languageModel: () => {
      loading ??= choice.provider === "anthropic" ? anthropic(choice) : openAICompatible(choice);
      return loading;
    },
  };
}

function secretsOf({ apiKey, baseURL }: EndpointChoice): readonly string[] {
  const { password, searchParams } = new URL(baseURL);
  // A password stands in the address percent-encoded, and goes out as it is.
  const query = [...searchParams].flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []));
  return [apiKey ?? "", password, decoded(password), ...query].filter((secret) => secret !== "");
}

/** Parameters of an address that hold a secret; others, as `api-version`, stand in many variables. */
const SECRET_NAME = /key|token|secret|sig|pass|pwd|code|auth|credential/i;

/** A name or password of an address; a `%` that encodes nothing stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return text;
  }
}

/** An address apart from what `fetch` refuses in it, and would repeat in its error. */
function split(baseURL: string) {
  const url = new URL(baseURL);
  const { username, password } = url;
  const queryParams = Object.fromEntries(url.searchParams);
  url.username = "";
  url.password = "";
  url.search = "";
  const basic = username === "" ? undefined : `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString("base64")}`;
  return { address: url.href.replace(/\/$/, ""), queryParams, headers: basic === undefined ? {} : { authorization: basic } };
}

async function openAICompatible({ name, baseURL, apiKey }: EndpointChoice): Promise<LanguageModel> {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const { address, queryParams, headers } = split(baseURL);
  const provider = createOpenAICompatible({
    name: "openai-compatible",
    baseURL: address,
    headers,
    queryParams,
    // Without it a stream ends without usage.
    includeUsage: true,
    fetch: straight,
    ...(apiKey === undefined ? {} : { apiKey }),
  });
  return provider.chatModel(name);
}

async function anthropic({ name, baseURL, apiKey }: EndpointChoice): Promise<LanguageModel> {
  const { createAnthropic } = await import("@ai-sdk/anthropic");
  const { address, headers } = split(baseURL);
  // Left to itself the library takes key and address from its own variables, and would send that key to any address.
  return createAnthropic({ baseURL: address, apiKey: apiKey ?? "none", headers, fetch: straight })(name);
}

/** Follows no redirect: neither key nor conversation goes to a host that nobody named. */
const straight: typeof fetch = (input, init) => fetch(input, { ...init, redirect: "error" });
