import { raceAbort } from "@bough/session-core/engine";
import type { HostState } from "../summary/compose.js";
import { type Engine, runAsHook } from "./engine.js";
import type { CompactorHandlers } from "./options.js";

type HookName = keyof CompactorHandlers;
type Handler<N extends HookName> = NonNullable<CompactorHandlers[N]>;
type HookResult<N extends HookName> = Exclude<Awaited<ReturnType<Handler<N>>>, void>;

/**
 * Calls the handlers of a hook in order until one cancels, and merges their results: the first value of a field wins. A
 * handler that throws is reported by the event `hookFailed` and otherwise ignored.
 *
 * @throws the reason of `signal` when it is aborted, also while a handler is still running.
 */
export async function callHook<N extends HookName>(
  engine: Engine,
  name: N,
  about: Parameters<Handler<N>>[0],
  signal?: AbortSignal,
): Promise<HookResult<N> | undefined> {
  type AnyHandler = (given: typeof about) => Promise<HookResult<N> | undefined>;
  // The type system does not relate a handler of a generic name to its own argument and result.
  const given = (engine.options.hooks?.[name] ?? []) as AnyHandler | readonly AnyHandler[];
  let merged: HookResult<N> | undefined;
  for (const handler of typeof given === "function" ? [given] : given) {
    const result = await callGuarded(engine, name, () => handler(about), signal);
    if (result !== undefined) merged = { ...result, ...merged };
    if (typeof result === "object" && result !== null && "cancel" in result && result.cancel === true) return result;
  }
  return merged;
}

/** The host's state to carry with a summary; null: none, or the host's function threw, which is reported as for hooks. */
export async function readHostState(engine: Engine, signal?: AbortSignal): Promise<HostState | null> {
  const { hostState } = engine.options;
  return hostState === undefined ? null : ((await callGuarded(engine, "hostState", hostState, signal)) ?? null);
}

async function callGuarded<T>(
  engine: Engine,
  name: string,
  call: () => T | Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T | undefined> {
  try {
    const result = runAsHook(engine.session, async () => call());
    return (await raceAbort(result, signal)) ?? undefined;
  } catch (error) {
    signal?.throwIfAborted();
    engine.emit({ type: "hookFailed", hook: name, error });
    return undefined;
  }
}
