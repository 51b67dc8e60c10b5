import { findContextWindow } from "@bough/compaction/providers";
import type { LanguageModel } from "ai";
import type { Config, ProviderKind } from "../config/schema.js";
import { UsageError } from "../errors.js";
import { assumedWindow, DEFAULT_WINDOW } from "../session/window-choice.js";
import type { Io } from "../terminal/io.js";

/** A model that replies. */
export interface ChatModel {
  /** The name that its server uses. */
  readonly name: string;
  readonly provider: ProviderKind;
  /** Its context window in tokens: from the options, the table of models, or 200,000. */
  readonly windowTokens: number;
  /** The URL of its API, without credentials and parameters. */
  readonly address: string;
  readonly origin: ModelOrigin;
  /** API keys and passwords in the URL. They must not be shown or stored. */
  readonly secrets: readonly string[];
  /** The model of the AI SDK, which is loaded at the first call. */
  readonly languageModel: () => Promise<LanguageModel>;
}

/** The origin of a setting, as text: an option, an environment variable, `CONFIG_FILE`, or a default. */
type Origin = string;

/** The origin of settings in the config file. */
export const CONFIG_FILE = "config file";

/** The origins of the settings of a model. */
interface ModelOrigin {
  readonly name: Origin;
  readonly address: Origin;
  readonly window: Origin;
  /** null: no key is sent. */
  readonly key: Origin | null;
}

/**
 * Chooses the model from options, environment and config; null: there is none, and the shell only stores messages. Nothing is
 * loaded until the first request. `chooseEndpoint` documents which URL gets which key.
 *
 * @throws {UsageError} the name, URL or key of the model is missing.
 * @example
 * const model = chooseChatModel(io.env, config, { model: "qwen3-coder", baseUrl: "http://127.0.0.1:11434/v1" });
 */
export function chooseChatModel(env: Io["env"], config: Config, options: ChatOptions): ChatModel | null {
  const choice = chooseEndpoint(env, config, options);
  if (choice === null) return null;
  const window = chooseModelWindow(config, options, choice.name);
  let loading: Promise<LanguageModel> | undefined;
  return {
    name: choice.name,
    provider: choice.provider,
    windowTokens: window.tokens,
    address: splitAddress(choice.baseURL).address,
    origin: { ...choice.origin, window: window.origin },
    secrets: secretsOf(choice),
    languageModel: () => {
      // The SDK prints warnings to the console: onto the screen of the shell, and before the JSON of a command.
      globalThis.AI_SDK_LOG_WARNINGS = false;
      loading ??= choice.provider === "anthropic" ? createAnthropicModel(choice) : openAiCompatible(choice);
      return loading;
    },
  };
}

function chooseModelWindow(config: Config, options: ChatOptions, name: string): { readonly tokens: number; readonly origin: Origin } {
  if (options.window !== undefined) return { tokens: options.window, origin: "--window" };
  if (config.window !== undefined) return { tokens: config.window, origin: CONFIG_FILE };
  const known = findContextWindow(name);
  return known === undefined ? { tokens: DEFAULT_WINDOW, origin: assumedWindow(name) } : { tokens: known, origin: "table of models" };
}

function secretsOf({ apiKey, baseURL }: Endpoint): readonly string[] {
  const { password } = new URL(baseURL);
  // The URL contains a password or parameter percent-encoded; the request contains it decoded.
  const parameters = baseURL.replace(/^[^?]*\??|#.*$/gs, "").split("&");
  const query = parameters.flatMap((given) =>
    [...new URLSearchParams(given)].flatMap(([name, value]) =>
      SECRET_PARAMETER.test(name) ? [value, given.slice(given.indexOf("=") + 1)] : [],
    ),
  );
  return [apiKey ?? "", password, decodePart(password), ...query].filter((secret) => secret !== "");
}

/** Names of URL parameters with a secret. Other parameters, such as `api-version`, are not masked: their values are common words. */
const SECRET_PARAMETER = /key|token|secret|sig|pass|pwd|code|auth|credential/i;

/** Decodes a name or password of a URL. A `%` that is no valid escape is kept. */
function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return text;
  }
}

/** Splits credentials and parameters off a URL: `fetch` rejects a URL with credentials, and its error repeats the URL. */
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
    // Without it, streams report no usage.
    includeUsage: true,
    fetch: fetchWithoutRedirects,
    ...(apiKey === undefined ? {} : { apiKey }),
  });
  return provider.chatModel(name);
}

async function createAnthropicModel({ name, baseURL, apiKey }: Endpoint): Promise<LanguageModel> {
  const { createAnthropic } = await import("@ai-sdk/anthropic");
  const { address, queryParams, headers } = splitAddress(baseURL);
  // The library takes no parameters of the URL.
  const fetchWithParameters: typeof fetch = (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    for (const [parameter, value] of Object.entries(queryParams)) url.searchParams.set(parameter, value);
    return fetchWithoutRedirects(url, init);
  };
  // Both are set explicitly: by default the library reads them from its own variables, and would send that key to any URL.
  return createAnthropic({ baseURL: address, apiKey: apiKey ?? "none", headers, fetch: fetchWithParameters })(name);
}

/** Rejects redirects, so that neither key nor messages go to another host. */
const fetchWithoutRedirects: typeof fetch = (input, init) => fetch(input, { ...init, redirect: "error" });

/** The command-line options of the model that replies. */
export interface ChatOptions {
  readonly model?: string | undefined;
  /** The origin of `model`. Default: `--model`. */
  readonly modelFrom?: Origin | undefined;
  readonly baseUrl?: string | undefined;
  /** Name of the environment variable with the key. */
  readonly apiKeyEnv?: string | undefined;
  readonly provider?: ProviderKind | undefined;
  /** The context window in tokens. */
  readonly window?: number | undefined;
}

/** A model, its URL and its key. */
interface Endpoint {
  readonly name: string;
  readonly provider: ProviderKind;
  readonly baseURL: string;
  readonly apiKey: string | undefined;
  readonly origin: Omit<ModelOrigin, "window">;
}

/** A value and where it comes from. */
interface Sourced {
  readonly value: string;
  readonly origin: Origin;
}

type Env = Io["env"];

/** The URL of Anthropic's API. */
const ANTHROPIC = "https://api.anthropic.com/v1";

/**
 * Chooses name, URL and key of the model from options, environment and config, in this order; null: no model is named.
 *
 * A key belongs to one URL: `BOUGH_API_KEY` to `BOUGH_BASE_URL`, the config's `apiKeyEnv` to its `baseUrl`. Another URL given
 * with `--base-url` gets a key by `--api-key-env` only. `ANTHROPIC_API_KEY` is for Anthropic's own URL.
 *
 * @throws {UsageError} the name or URL is missing, or a variable that should contain the key is not set.
 */
export function chooseEndpoint(env: Env, config: Config, options: ChatOptions): Endpoint | null {
  const named = firstGiven(
    [options.model, options.modelFrom ?? "--model"],
    [nonEmpty(env["BOUGH_MODEL"]), "BOUGH_MODEL"],
    [config.model, CONFIG_FILE],
  );
  const name = named?.value.trim() ?? "";
  if (named === undefined || name === "") {
    if (options.baseUrl !== undefined || options.apiKeyEnv !== undefined || named !== undefined)
      throw new UsageError("The model is missing. Name it with --model or BOUGH_MODEL.");
    return null;
  }
  const address = chooseAddress(env, config, options, name);
  if (address === undefined)
    throw new UsageError("The URL of the model is missing. Set --base-url or BOUGH_BASE_URL, such as http://127.0.0.1:11434/v1.");
  const baseURL = requireHttpAddress(address.value);
  const provider = options.provider ?? chooseProvider(config, baseURL, address.value);
  const key = chooseKey(env, config, options, address.value);
  const origin = { name: named.origin, address: address.origin, key: key?.origin ?? null };
  return { name, provider, baseURL, apiKey: key?.value, origin };
}

function firstGiven(...choices: readonly (readonly [value: string | undefined, origin: Origin])[]): Sourced | undefined {
  for (const [value, origin] of choices) if (value !== undefined) return { value, origin };
  return undefined;
}

function chooseAddress(env: Env, config: Config, options: ChatOptions, name: string): Sourced | undefined {
  const isAnthropic = (options.provider ?? config.provider) === "anthropic" || name.trim().startsWith("claude");
  return firstGiven(
    [options.baseUrl, "--base-url"],
    [nonEmpty(env["BOUGH_BASE_URL"]), "BOUGH_BASE_URL"],
    [config.baseUrl, CONFIG_FILE],
    [isAnthropic ? ANTHROPIC : undefined, "default of the provider"],
  );
}

/** The provider in the config applies to the URL in the config only. */
function chooseProvider(config: Config, baseURL: string, address: string): ProviderKind {
  if (config.provider !== undefined && (config.baseUrl ?? address) === address) return config.provider;
  return new URL(baseURL).hostname === "api.anthropic.com" ? "anthropic" : "openai-compatible";
}

function requireHttpAddress(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  // The URL is not repeated, because it may contain a password.
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new UsageError("The URL of the model must begin with http:// or https://.");
  return address;
}

function chooseKey(env: Env, config: Config, options: ChatOptions, address: string): Sourced | undefined {
  if (options.apiKeyEnv !== undefined) return { value: requireKey(env, options.apiKeyEnv, "--api-key-env"), origin: "--api-key-env" };
  if (config.apiKeyEnv !== undefined && address === configuredAddress({}, config))
    return { value: requireKey(env, config.apiKeyEnv, "apiKeyEnv in the config file"), origin: config.apiKeyEnv };
  // If no URL is configured, BOUGH_API_KEY belongs to the given one.
  const isShared = (configuredAddress(env, config) ?? address) === address;
  const isAnthropic = new URL(address).hostname === "api.anthropic.com";
  return firstGiven(
    [isShared ? nonEmpty(env["BOUGH_API_KEY"]) : undefined, "BOUGH_API_KEY"],
    [isAnthropic ? nonEmpty(env["ANTHROPIC_API_KEY"]) : undefined, "ANTHROPIC_API_KEY"],
  );
}

/** The URL without command-line options. */
function configuredAddress(env: Env, config: Config): string | undefined {
  return chooseAddress(env, config, {}, nonEmpty(env["BOUGH_MODEL"]) ?? config.model ?? "")?.value;
}

/** The API key in a variable. The message does not repeat the name, because the user may have given the key itself. */
function requireKey(env: Env, variable: string, option: string): string {
  const key = Object.hasOwn(env, variable) ? nonEmpty(env[variable]) : undefined;
  if (key === undefined) throw new UsageError(`${option} must name an environment variable with the key; the variable is not set.`);
  return key;
}

/** The trimmed value of a variable; an empty variable counts as unset. */
function nonEmpty(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === "" ? undefined : value.trim();
}
