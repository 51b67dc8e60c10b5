import type { Engine } from "./engine.js";
import type { CompactorHooks } from "./hooks.js";
import { asHook } from "./lock.js";

type HookName = keyof CompactorHooks;
type HookOf<N extends HookName> = NonNullable<CompactorHooks[N]>;
type Answer<N extends HookName> = Exclude<Awaited<ReturnType<HookOf<N>>>, void>;

/**
 * Calls a hook and awaits it. One that throws is reported and counts as not there: hooks never block (VS Code's rule).
 */
export async function callHook<N extends HookName>(
  engine: Engine,
  name: N,
  about: Parameters<HookOf<N>>[0],
): Promise<Answer<N> | undefined> {
  const hook = engine.options.hooks?.[name] as ((given: typeof about) => Promise<Answer<N> | undefined>) | undefined;
  if (hook === undefined) return undefined;
  try {
    return (await asHook(engine.session, () => hook(about))) ?? undefined;
  } catch (error) {
    engine.emit({ type: "hook_failed", hook: name, error });
    return undefined;
  }
}
