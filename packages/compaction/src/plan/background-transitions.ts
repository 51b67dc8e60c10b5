/**
 * State of a session's background summary. `D` is the type of a finished draft. `attempt` identifies the run, so that a late
 * event of a run that was cancelled or replaced changes nothing.
 */
export type BackgroundState<D> =
  | { readonly at: "idle" }
  | { readonly at: "running"; readonly attempt: string }
  | { readonly at: "ready"; readonly attempt: string; readonly draft: D }
  | { readonly at: "failed"; readonly attempt: string };

/** Events of a background summary. `consumed`: its draft was applied or its failure reported. */
export type BackgroundEvent<D> =
  | { readonly type: "started"; readonly attempt: string }
  | { readonly type: "finished"; readonly attempt: string; readonly draft: D }
  | { readonly type: "failed"; readonly attempt: string }
  | { readonly type: "consumed" }
  | { readonly type: "cancelled" };

/**
 * The state after an event. Pure; an event that does not apply returns the same object. A failed run may be started again;
 * `decide` (decide.ts) decides when a run is started.
 */
export function nextBackground<D>(state: BackgroundState<D>, event: BackgroundEvent<D>): BackgroundState<D> {
  switch (event.type) {
    case "started":
      return state.at === "idle" || state.at === "failed" ? { at: "running", attempt: event.attempt } : state;
    case "finished":
      return isCurrent(state, event.attempt) ? { at: "ready", attempt: event.attempt, draft: event.draft } : state;
    case "failed":
      return isCurrent(state, event.attempt) ? { at: "failed", attempt: event.attempt } : state;
    case "consumed":
      return state.at === "ready" || state.at === "failed" ? { at: "idle" } : state;
    case "cancelled":
      return state.at === "idle" ? state : { at: "idle" };
  }
}

function isCurrent<D>(state: BackgroundState<D>, attempt: string): boolean {
  return state.at === "running" && state.attempt === attempt;
}
