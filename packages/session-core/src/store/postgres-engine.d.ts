// The types of the package `@bough/postgres` as `openStore` uses it. The package is optional and is built after this one, so tsconfig.json
// points its name here.
import type { SessionStorage } from "../port/session-storage.js";
import type { StoreOptions } from "./open-store.js";

type Defaulted = "mode" | "durability" | "busyTimeoutMs" | "fileTools";
type ServerOptions = StoreOptions & { readonly url: string } & { readonly [K in Defaulted]-?: NonNullable<StoreOptions[K]> };

export function openPostgres(options: ServerOptions): Promise<SessionStorage>;
