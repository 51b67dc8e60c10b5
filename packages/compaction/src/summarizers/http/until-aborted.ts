/**
 * What `work` gives, or a rejection with the signal's reason the moment the signal aborts, whether `work` heeds it or not.
 * What `work` gives or throws after that is dropped without an unhandled rejection. Nothing is left on the signal.
 *
 * @example
 * const reply = await untilAborted(signal, () => fetch(url, { signal }));
 */
export async function untilAborted<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  if (signal === undefined) return work();
  signal.throwIfAborted();
  let stopListening: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    stopListening = () => signal.removeEventListener("abort", onAbort);
  });
  try {
    return await Promise.race([work(), aborted]);
  } catch (error) {
    // An aborted fetch throws an error of its own; to the caller it is the abort.
    signal.throwIfAborted();
    throw error;
  } finally {
    stopListening();
  }
}
