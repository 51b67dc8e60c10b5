import type { SessionId, Store } from "@bough/session-core";

/**
 * Calls `onChange` after another process has written to the store, or to this session of it; not after writes of this process. While a
 * call runs, no other one starts; what was written meanwhile is one call after it. Returns a function that ends it. `onChange` must
 * not reject.
 */
export function watchStore(store: Store, onChange: () => Promise<void>, sessionId?: SessionId): () => void {
  let isRunning = false;
  let isBehind = false;
  let isOver = false;
  const run = async () => {
    isRunning = true;
    do {
      isBehind = false;
      await onChange();
    } while (isBehind && !isOver);
    isRunning = false;
  };
  const end = store.onChange(({ sessionIds }) => {
    if (sessionId !== undefined && sessionIds?.includes(sessionId) === false) return;
    if (isRunning) isBehind = true;
    else void run();
  });
  return () => {
    isOver = true;
    end();
  };
}
