import type { LanguageModel } from "ai";
import { windowOf } from "../compacting/model-windows.js";
import type { Config, ProviderKind } from "../config/schema.js";
import { UsageError } from "../errors.js";
import { DEFAULT_WINDOW } from "../session/window-choice.js";
import type { Io } from "../terminal/io.js";

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
export function chooseChatModel(env: Io["env"], config: Config, options: ChatOptions): ChatModel | null {
  const choice = chooseEndpoint(env, config, options);
  if (choice === null) return null;
  let loading: Promise<LanguageModel> | undefined;
  return {
    name: choice.name,
    provider: choice.provider,
    windowTokens: options.window ?? config.window ?? windowOf(choice.name) ?? DEFAULT_WINDOW,
    secrets: secretsOf(choice),
    languageModel: () => {
      loading ??= choice.provider === "anthropic" ? createAnthropicModel(choice) : openAiCompatible(choice);
      return loading;
    },
  };
}

function secretsOf({ apiKey, baseURL }: Endpoint): readonly string[] {
  const { password, searchParams } = new URL(baseURL);
  // A password stands in the address percent-encoded, and goes out as it is.
  const query = [...searchParams].flatMap(([name, value]) => (SECRET_PARAMETER.test(name) ? [value] : []));
  return [apiKey ?? "", password, decodePart(password), ...query].filter((secret) => secret !== "");
}

/** Parameters of an address that hold a secret; others, as `api-version`, stand in many variables. */
const SECRET_PARAMETER = /key|token|secret|sig|pass|pwd|code|auth|credential/i;

/** A name or password of an address; a `%` that encodes nothing stands for itself. */
function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return text;
  }
}

/** An address apart from what `fetch` refuses in it, and would repeat in its error. */
function splitAddress(baseURL: string) {
  const url = new URL(baseURL);
  const { username, password } = url;
  const queryParams = Object.fromEntries(url.searchParams);
  url.username = "";
  url.password = "";
  url.search = "";
  const basic = username === "" ? undefined : `Basic ${Buffer.from(`${decodePart(username)}:${decodePart(password)}`).toString("base64")}`;
  return { address: url.href.replace(/\/$/, ""), queryParams, headers: basic === undefined ? {} : { authorization: basic } };
}

async function openAiCompatible({ name, baseURL, apiKey }: Endpoint): Promise<LanguageModel> {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const { address, queryParams, headers } = splitAddress(baseURL);
  const provider = createOpenAICompatible({
    name: "openai-compatible",
    baseURL: address,
    headers,
    queryParams,
    // Without it a stream ends without usage.
    includeUsage: true,
    fetch: fetchWithoutRedirects,
    ...(apiKey === undefined ? {} : { apiKey }),
  });
  return provider.chatModel(name);
}

async function createAnthropicModel({ name, baseURL, apiKey }: Endpoint): Promise<LanguageModel> {
  const { createAnthropic } = await import("@ai-sdk/anthropic");
  const { address, headers } = splitAddress(baseURL);
  // Left to itself the library takes key and address from its own variables, and would send that key to any address.
  return createAnthropic({ baseURL: address, apiKey: apiKey ?? "none", headers, fetch: fetchWithoutRedirects })(name);
}

/** Follows no redirect: neither key nor conversation goes to a host that nobody named. */
const fetchWithoutRedirects: typeof fetch = (input, init) => fetch(input, { ...init, redirect: "error" });

/** What a command line says about the model that answers. */
export interface ChatOptions {
  readonly model?: string | undefined;
  readonly baseUrl?: string | undefined;
  /** Name of a variable that holds the key; never the key itself. */
  readonly apiKeyEnv?: string | undefined;
  readonly provider?: ProviderKind | undefined;
  /** The model's window, in tokens. */
  readonly window?: number | undefined;
}

/** Where a model is asked, and with which key. */
export interface Endpoint {
  readonly name: string;
  readonly provider: ProviderKind;
  readonly baseURL: string;
  readonly apiKey: string | undefined;
}

type Env = Io["env"];

/** Where Anthropic's own models are. */
const ANTHROPIC = "https://api.anthropic.com/v1";

/**
 * The model that options, environment and config name, in this order; null: none. Pure.
 *
 * A key belongs to an address: `BOUGH_API_KEY` to `BOUGH_BASE_URL`, the config's `apiKeyEnv` to its `baseUrl`. An address that
 * is typed and is none of them gets a key only by `--api-key-env`. `ANTHROPIC_API_KEY` is for Anthropic's own address.
 *
 * @throws {UsageError} it is named only in part, or a variable that is to hold a key is not set.
 */
export function chooseEndpoint(env: Env, config: Config, options: ChatOptions): Endpoint | null {
  const name = options.model ?? nonEmpty(env["BOUGH_MODEL"]) ?? config.model;
  if (name === undefined || name.trim() === "") {
    if (options.baseUrl !== undefined || options.apiKeyEnv !== undefined || name !== undefined)
      throw new UsageError("Which model? Name it with --model or BOUGH_MODEL.");
    return null;
  }
  const address = chooseAddress(env, config, options, name);
  if (address === undefined)
    throw new UsageError("The model needs an address: --base-url or BOUGH_BASE_URL, such as http://127.0.0.1:11434/v1.");
  const baseURL = requireHttpAddress(address);
  const provider = options.provider ?? chooseProvider(config, baseURL, address);
  return { name: name.trim(), provider, baseURL, apiKey: chooseKey(env, config, options, address) };
}

function chooseAddress(env: Env, config: Config, options: ChatOptions, name: string): string | undefined {
  const given = options.baseUrl ?? nonEmpty(env["BOUGH_BASE_URL"]) ?? config.baseUrl;
  if (given !== undefined) return given;
  const isAnthropic = (options.provider ?? config.provider) === "anthropic" || name.trim().startsWith("claude");
  return isAnthropic ? ANTHROPIC : undefined;
}

/** What the config says of its provider is about the config's address. */
function chooseProvider(config: Config, baseURL: string, address: string): ProviderKind {
  if (config.provider !== undefined && (config.baseUrl ?? address) === address) return config.provider;
  return new URL(baseURL).hostname === "api.anthropic.com" ? "anthropic" : "openai-compatible";
}

function requireHttpAddress(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  // The address itself is not repeated: it can hold a password.
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new UsageError("The address of the model must begin with http:// or https://.");
  return address;
}

function chooseKey(env: Env, config: Config, options: ChatOptions, address: string): string | undefined {
  // What was typed is not repeated: it may be the key itself.
  if (options.apiKeyEnv !== undefined)
    return requireKey(env, options.apiKeyEnv, "--api-key-env takes the name of a variable that holds the key");
  if (config.apiKeyEnv !== undefined && address === configuredAddress({}, config))
    return requireKey(env, config.apiKeyEnv, "apiKeyEnv of the config file names a variable that holds the key");
  const shared = nonEmpty(env["BOUGH_API_KEY"]);
  // With no address configured beside it, it can only be meant for the one that is typed.
  if (shared !== undefined && (configuredAddress(env, config) ?? address) === address) return shared;
  return new URL(address).hostname === "api.anthropic.com" ? nonEmpty(env["ANTHROPIC_API_KEY"]) : undefined;
}

/** The address that would be asked if nothing were typed. */
function configuredAddress(env: Env, config: Config): string | undefined {
  return chooseAddress(env, config, {}, nonEmpty(env["BOUGH_MODEL"]) ?? config.model ?? "");
}

function requireKey(env: Env, variable: string, rule: string): string {
  const key = nonEmpty(env[variable]);
  if (key === undefined) throw new UsageError(`${rule}; the one named is not set.`);
  return key;
}

/** A variable that is set to nothing is not set. */
function nonEmpty(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === "" ? undefined : value.trim();
}
