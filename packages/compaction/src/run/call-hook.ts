import type { HostState } from "../summary/compose.js";
import { type Engine, runAsHook } from "./engine.js";
import type { CompactorHandlers } from "./options.js";
import { orAborted } from "./or-aborted.js";

type HookName = keyof CompactorHandlers;
type HookOf<N extends HookName> = NonNullable<CompactorHandlers[N]>;
type Answer<N extends HookName> = Exclude<Awaited<ReturnType<HookOf<N>>>, void>;

/**
 * Calls the handlers of a hook, one after the other, until one cancels; of their answers the first counts. One that throws is reported and counts as not there: hooks never block (VS Code's rule).
 *
 * @throws the reason of `signal` when it is aborted: nobody waits longer for a hook that does not come back.
 */
export async function callHook<N extends HookName>(
  engine: Engine,
  name: N,
  about: Parameters<HookOf<N>>[0],
  signal?: AbortSignal,
): Promise<Answer<N> | undefined> {
  type Handler = (given: typeof about) => Promise<Answer<N> | undefined>;
  const given = (engine.options.hooks?.[name] ?? []) as Handler | readonly Handler[];
  let answer: Answer<N> | undefined;
  for (const handler of typeof given === "function" ? [given] : given) {
    const one = await called(engine, name, () => handler(about), signal);
    if (one !== undefined) answer = { ...one, ...answer };
    if (typeof one === "object" && one !== null && "cancel" in one && one.cancel === true) return one;
  }
  return answer;
}

/** What the host wants carried along; null: nothing, or it could not say. As with hooks. */
export async function hostStateOf(engine: Engine, signal?: AbortSignal): Promise<HostState | null> {
  const { hostState } = engine.options;
  return hostState === undefined ? null : ((await called(engine, "hostState", hostState, signal)) ?? null);
}

async function called<T>(engine: Engine, name: string, call: () => T | Promise<T>, signal?: AbortSignal): Promise<T | undefined> {
  try {
    return (
      (await orAborted(
        runAsHook(engine.session, async () => call()),
        signal,
      )) ?? undefined
    );
  } catch (error) {
    signal?.throwIfAborted();
    engine.emit({ type: "hookFailed", hook: name, error });
    return undefined;
  }
}
