import type { Store } from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";

const STORE = rules.withMethods("a store, as openStore() resolves to", "openOrCreateSession", "openSession");

/** Checks the store that an adapter was given, also in untyped code. @throws {InvalidArgumentError} it is something else. */
export function requireStore(store: Store): Store {
  rules.checkArgument("store", store, STORE);
  return store;
}
