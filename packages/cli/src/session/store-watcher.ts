import { BoughError, type Store } from "@bough/session-core";
import { storageOf } from "@bough/session-core/internals";

/** Interval of the looks, in milliseconds. A look that finds no change reads one number. */
const LOOK_MS = 500;

/**
 * Calls `onChange` after another process has written to the store; not after writes of this process. A call that is running is
 * not repeated until it has ended. Returns a function that ends it. `onChange` must not reject.
 */
export function watchStore(store: Store, onChange: () => Promise<void>): () => void {
  const storage = storageOf(store);
  let known: number | undefined;
  let isLooking = false;
  const look = async () => {
    if (isLooking) return;
    isLooking = true;
    try {
      const count = await storage.changeCount();
      const isChanged = known !== undefined && count !== known;
      known = count;
      if (isChanged) await onChange();
    } catch (error) {
      // A store that cannot be read now is reported by the next operation of the user. The next look may succeed.
      if (!(error instanceof BoughError)) throw error;
    } finally {
      isLooking = false;
    }
  };
  void look();
  const timer = setInterval(() => void look(), LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}
