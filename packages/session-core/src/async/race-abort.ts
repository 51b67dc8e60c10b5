/**
 * Resolves with the promise, or rejects with `signal.reason` when aborted. The promise itself is not canceled; its result
 * after the abort is ignored, without an unhandled rejection. A function is called at once, unless the signal is
 * aborted already. No listener is left on the signal.
 *
 * @example
 * const response = await raceAbort(() => fetch(url, { signal }), signal);
 */
export async function raceAbort<T>(work: Promise<T> | (() => Promise<T>), signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return typeof work === "function" ? work() : work;
  if (signal.aborted && typeof work !== "function") work.catch(() => undefined);
  signal.throwIfAborted();
  let stopListening: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    stopListening = () => signal.removeEventListener("abort", onAbort);
  });
  try {
    return await Promise.race([typeof work === "function" ? work() : work, aborted]);
  } catch (error) {
    // An aborted fetch rejects with its own error; the caller gets the reason of the abort.
    signal.throwIfAborted();
    throw error;
  } finally {
    stopListening();
  }
}
