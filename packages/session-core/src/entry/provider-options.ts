import { isObject, type JsonObject } from "./json.js";

/**
 * Data of a provider about a block or a message, by the name of the provider: ids of items, encrypted reasoning, thought
 * signatures. Opaque; a converter gives the members of a provider back to this provider and to no other.
 *
 * @example
 * { openai: { itemId: "rs_1", reasoningEncryptedContent: "gAAAA…" } }
 */
export type ProviderOptions = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** True if `value` is an object whose members are objects. */
export function isProviderOptions(value: unknown): value is ProviderOptions {
  return isObject(value) && Object.values(value).every(isObject);
}

/** The options that a block or a message has for a provider. A row that was changed by another program may have any value. */
export function optionsFor(holder: { readonly providerOptions?: unknown }, provider: string): JsonObject | undefined {
  const { providerOptions } = holder;
  const options = isObject(providerOptions) && Object.hasOwn(providerOptions, provider) ? providerOptions[provider] : undefined;
  return isObject(options) ? options : undefined;
}
