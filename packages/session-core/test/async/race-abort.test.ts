import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { raceAbort } from "../../src/async/promises.js";

describe("work until an abort", () => {
  test("listens to the signal while it runs, and no longer", async () => {
    const { signal } = new AbortController();
    let during = 0;
    await raceAbort(async () => {
      await Promise.resolve();
      during = getEventListeners(signal, "abort").length;
    }, signal);
    expect([during, getEventListeners(signal, "abort").length]).toEqual([1, 0]);
  });

  test("leaves no listener behind when the work fails", async () => {
    const { signal } = new AbortController();
    const broken = raceAbort(() => Promise.reject(new Error("broken")), signal);
    await expect(broken).rejects.toThrow("broken");
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  test("is not begun when the signal has aborted, and rejects with its reason, of whatever kind", async () => {
    let begun = false;
    const asked = raceAbort(async () => {
      begun = true;
    }, AbortSignal.abort("because"));
    await expect(asked).rejects.toBe("because");
    expect(begun).toBe(false);
  });
});
